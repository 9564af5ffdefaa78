"""The printed forms of a compiled loop, as the report shows them: with the sources and places of this run's cell.

A loop is printed once; a cell fills in its own names and line numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from hastega_magic.ir.expr import Expr, leaf, postorder
from hastega_magic.ir.fused import Fused
from hastega_magic.ir.kernel import Assume, Guard, Kernel, Statement, nodes_of
from hastega_magic.ir.origins import Origins
from hastega_magic.ir.pipeline import Pipeline, Source
from hastega_magic.ir.printer import kernel_places, print_lines, print_pipeline
from hastega_magic.ir.template import Filling, Template
from hastega_magic.passes.pipelines import CPU, FUSE, Pass, State
from hastega_magic.report.model import PassText

if TYPE_CHECKING:
    from hastega_magic.compiler.loops import CompiledLoop

T = TypeVar("T")

Key = Expr | int
"""What a line belongs to: a node of the written loop, the number of one of its outputs, or all of it."""

LOOP = -1


def pass_texts(
    compiled: CompiledLoop, number: int, now: Fused, pipelines: Sequence[Pipeline]
) -> tuple[PassText, ...]:
    """The form after each pass. `now`: the loop as this cell has it, only fused; `number`: the variant shown."""
    filling = Filling(now)
    found = [
        PassText(
            "pipeline", "The statements as they were written.", "\n".join(map(print_pipeline, pipelines))
        )
    ]
    found += [
        PassText(
            each.name, each.doc, "\n".join([form.text(filling), *checks]) if checks else form.text(filling)
        )
        for each, form, checks in _forms(compiled)
    ]
    kernel = _kept(compiled, f"kernel {number}", lambda: Template.of_kernel(compiled.bodies[number].kernel))
    text = kernel.text(filling)
    found += [PassText(each.name, each.doc, text) for each in CPU]
    return tuple(found)


_Form = tuple[Pass, Template, Sequence[str]]


def _forms(compiled: CompiledLoop) -> Sequence[_Form]:
    """The fused loop after each pass, with what is checked then."""

    def made() -> list[_Form]:
        found: list[_Form] = [(FUSE, Template.of_fused(compiled.written), ())]
        for each, state in compiled.steps:
            checks = [text for text, _ in _variant_lines(state)]
            found.append((each, Template.of_fused(state.loop), checks))
        return found

    return _kept(compiled, "forms", made)


def last_form(compiled: CompiledLoop) -> Template:
    """The loop as it is compiled: `compiled.fused`."""
    return _forms(compiled)[-1][1]


def _kept(compiled: CompiledLoop, kind: str, make: Callable[[], T]) -> T:
    """What all cells of the loop's structure share."""
    found = compiled.pictures.get(kind)
    if found is None:
        found = compiled.pictures[kind] = make()
    return cast("T", found)


def fused_keys(state: State, written: Fused) -> list[tuple[Key, ...]]:
    """What each line of the last pass over the fused loop belongs to."""
    form, found = state.loop, list[tuple[Key, ...]]()
    found += _heads(form, form.roots(), form.origins)
    found += [form.origins.get(node, ()) for _, node in print_lines(form) if node is not None]
    found += [(effect.node,) for effect in written.effects]
    found += [(number,) for number in range(len(form.outputs))]
    checks = [keys for _, keys in _variant_lines(state)]
    return [*found, (), *checks] if checks else found


def _variant_lines(state: State) -> list[tuple[str, tuple[Key, ...]]]:
    """What the loop's variants assume and check."""
    lines: list[tuple[str, tuple[Key, ...]]] = []
    for number, body in enumerate(state.variants.bodies if state.variants is not None else ()):
        checks: list[tuple[str, tuple[Key, ...]]] = [
            (f"  assume {each.load!r} in {each.interval}", (each.load,)) for each in body.assumes
        ]
        checks += [
            (f"  guard  {each.reason}", body.fused.origins.get(each.condition, ())) for each in body.guards
        ]
        lines += [(f"variant {number}: {'no checks' if not checks else ''}".rstrip(), (LOOP,)), *checks]
    return lines


def kernel_keys(kernel: Kernel) -> dict[int, tuple[Key, ...]]:
    """What each line of the printed kernel, counted from 1, belongs to."""
    places = kernel_places(kernel)
    found = dict(enumerate(_heads(kernel, kernel.roots(), kernel.origins), 1))
    found[len(found) + 1] = (LOOP,)
    seen: set[Expr] = set()
    for statement, serves in zip(kernel.body, kernel.serves, strict=True):
        keys = _statement_keys(statement, serves, kernel.origins)
        found[places.statements[statement]] = keys
        for node in postorder(nodes_of(statement), seen):
            seen.add(node)
            if node in places.nodes:
                # What lowering adds on top of a value, such as its truth for `any`, is the statement's own.
                found.setdefault(places.nodes[node], kernel.origins.get(node) or keys)
    return found


def _heads(form: Fused | Kernel, roots: Iterable[Expr], origins: Origins) -> list[tuple[Key, ...]]:
    """The first line, then the sources, then the tables (which belong to what looks elements up in them)."""
    found: list[tuple[Key, ...]] = [(LOOP,)]
    found += [(_load(source, slot),) for slot, source in enumerate(form.sources)]
    users: dict[int, dict[Expr, None]] = {}
    for node in postorder(roots) if form.tables else ():
        for arg in node.args:
            if arg.op in ("table", "length") and isinstance(arg.value, int):
                users.setdefault(arg.value, {}).update(dict.fromkeys(origins.get(node, ())))
    return found + [tuple(users.get(slot, ())) for slot in range(len(form.tables))]


def _load(source: Source, slot: int) -> Expr:
    return leaf("load", source.type, slot)


def _statement_keys(statement: Statement, serves: tuple[int, ...], origins: Origins) -> tuple[Key, ...]:
    match statement:
        case Assume(load=node) | Guard(condition=node):
            return origins.get(node, ())
        case _:
            return serves
