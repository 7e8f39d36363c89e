"""A fine-tuned encoder in a model file, as ONNX: onnxruntime runs it.

The file may come from a stranger, so the encoder's operators, and its needs of memory and time are
checked before it runs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from arborescence.errors import ModelError
from arborescence.parsers.neural.file_encoder import (
    FIELDS,
    TOKENIZER,
    FileEncoder,
    missing,
    understood,
)
from arborescence.parsers.neural.onnx_file import graph_of
from arborescence.parsers.neural.onnx_sizes import Sizes
from arborescence.parsers.shared import scheme

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ARRAYS: Final = {
    name: scheme.Array((np.uint8,), (f"bytes of {name}",)) for name in ("onnx", TOKENIZER)
}


class OnnxEncoder(FileEncoder):
    """An encoder whose graph goes from pieces (1, P) int64 to vectors (P, layers, size) float32."""

    format: ClassVar[str] = "onnx"

    def __init__(
        self, fields: dict[str, Any], arrays: dict[str, NDArray[np.uint8]], layers: int, size: int
    ) -> None:
        # The fields and arrays of a model file; ModelError if they are no encoder of this shape.
        fields, arrays = scheme.fields_of(fields, FIELDS), scheme.arrays_of(arrays, _ARRAYS, {})
        try:
            import onnxruntime
        except ImportError as error:
            raise missing("onnxruntime") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4  # errors are raised
        # Run the checked format only: the same bytes can be valid in two formats.
        options.add_session_config_entry("session.load_model_format", "ONNX")
        # ONNX can name other files to read. None is read, since this path is no folder.
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", os.devnull
        )
        with understood():
            data = arrays["onnx"].tobytes()
            self._sizes = Sizes(graph_of(memoryview(data)))
            self._sizes.check(fields["room"])
            self._session = onnxruntime.InferenceSession(
                data, options, providers=["CPUExecutionProvider"]
            )
        super().__init__(fields, arrays, layers, size)
        self.features([["a"]])  # a wrong shape raises its error now

    def _states(self, ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.float32]:
        for length in np.unique(lengths).tolist():
            self._sizes.check(length)
        states = [
            self._session.run(None, {"ids": row[np.newaxis, :length]})[0]
            for row, length in zip(ids, lengths, strict=True)
        ]
        for state, length in zip(states, lengths, strict=True):
            if state.dtype != np.float32 or state.shape != (length, self.layers, self.size):
                shape = (int(length), self.layers, self.size)
                raise ModelError(
                    f"the encoder returns {state.dtype} {state.shape}, not float32 {shape}"
                )
        every: NDArray[np.float32] = np.concatenate(states)
        return every
