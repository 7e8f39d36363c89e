#!/usr/bin/env bash
# The tests of the pages that explain and that parse, and of the site of `make docs`, in Debian's Chromium.
# Options are passed on to pytest.
set -euo pipefail
cd "$(dirname "$0")/../../.."

command -v chromium > /dev/null || {
  apt-get update -qq -o Acquire::Retries=3
  apt-get install -o Acquire::Retries=3 --yes -qq --no-install-recommends chromium fonts-dejavu-core > /dev/null
}
python -m pip install --quiet --no-compile --disable-pip-version-check --group browser
pytest --quiet -p no:cacheprovider -n auto --dist worksteal tests/explaining/page/test_page.py \
  tests/explaining/page/test_same_steps.py tests/explaining/page/test_site.py tests/explaining/page/test_live.py tests/explaining/page/test_gallery.py \
  tests/integrations/test_service.py "$@"
