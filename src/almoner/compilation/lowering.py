"""Lowering of kernels to LLVM's code: variables assigned once become values, and need no memory.

numba does so with variables of one block. All others it loads for each use, stores, and clears in
the end; a variable that holds the state of a run consists of some 150 numbers, and LLVM would first
have to find out that they are never stored. Only for functions that count no references: the others
must release what a variable holds wherever it ends.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from numba.core import ir
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

__all__ = ["KernelLowering", "SeparateLowering"]


class _KernelLower(Lower):
    def _find_singly_assigned_variable(self) -> None:
        super()._find_singly_assigned_variable()
        if not self.flags.nrt and not self.func_ir.func_id.is_generator:
            self._singly_assigned_vars |= _values(self.func_ir.blocks)


class _SeparateLower(_KernelLower):
    def setup_function(self, fndesc: Any) -> None:
        super().setup_function(fndesc)
        self.function.attributes.add("noinline")


def _values(blocks: dict[int, Any]) -> set[str]:
    """Return variables assigned once, in a block that every use has passed, and was lowered after.

    Blocks are lowered in the order of their labels.
    """
    uses = defaultdict(set)
    for label, names in compute_use_defs(blocks).usemap.items():
        for name in names:
            uses[name].add(label)
    assignments: Counter[str] = Counter()
    defined: dict[str, int] = {}
    for label, block in blocks.items():
        for assignment in block.find_insts(ir.Assign):
            assignments[assignment.target.name] += 1
            defined[assignment.target.name] = label
    dominators = compute_cfg_from_blocks(blocks).dominators()
    return {
        name
        for name, label in defined.items()
        if assignments[name] == 1
        and all(label < use and label in dominators[use] for use in uses[name])
    } - must_use_alloca(blocks)


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(NativeLowering):
    """Pass that lowers a kernel."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        """The class that lowers a function."""
        return _KernelLower


@register_pass(mutates_CFG=True, analysis_only=False)
class SeparateLowering(NativeLowering):
    """Pass that lowers a step which is not to be inlined."""

    _name = "separate_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        """The class that lowers a function."""
        return _SeparateLower
