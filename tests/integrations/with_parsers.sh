#!/usr/bin/env bash
# The tests of the integrations with the real packages, in an environment of their own: on top of
# that of the python in PATH, which has torch and what tests need, and which is not changed.
# "all" adds parsers that ask for versions of other packages from years ago. They are installed
# without those: their decoding does not need them.
set -euo pipefail
cd "$(dirname "$0")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
outer=$(python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
python -m venv "$scratch/venv"
inner=$("$scratch/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "import site; site.addsitedir('$outer')" > "$inner/outer.pth"

add() { "$scratch/venv/bin/pip" install --quiet --no-compile --disable-pip-version-check "$@"; }
add stanza==1.15.0 supar==1.1.4 ufal.chu_liu_edmonds==1.0.3
if [[ ${1:-} == all ]]; then
  add adapters==1.1.0 bidict boltons "click<9" fasttextlt langid==1.1.6 loguru phrasetree pooch \
    "pydantic<2.12" "pydantic-settings<2.10" pynvml pyyaml rich sacremoses sentencepiece six \
    tabulate2 termcolor toposort==1.5
  add --no-deps diaparser==1.1.3 hanlp==2.1.7 hanlp-common==0.0.23 hanlp-downloader hanlp-trie \
    hopsparser==0.8.0 trankit==1.1.2
fi

PYTHONPATH="$PWD/src" "$scratch/venv/bin/python" -m pytest --quiet -p no:cacheprovider \
  tests/integrations/test_tools.py tests/integrations/test_ufal.py tests/cli/test_integrations.py
