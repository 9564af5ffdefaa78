/**
 * Colours `%%hastega` cells (the magic's line, each `|>` and the stage after it, over Python's own highlighting), and
 * follows the kernels of notebooks.
 */

import { Extension, Prec, RangeSetBuilder } from '@codemirror/state';
import { Decoration, DecorationSet, EditorView, ViewPlugin, ViewUpdate } from '@codemirror/view';
import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IEditorExtensionRegistry } from '@jupyterlab/codemirror';

import { isHastega, Mark, marks } from './highlight';
import { followKernel, Notebook } from './kernel';

/** Longer cells are no cells that a person typed; they stay as Python colours them. */
const LONGEST = 100_000;

const DECORATIONS = new Map<Mark['kind'], Decoration>(
  (['magic', 'option', 'pipe', 'stage', 'sink', 'tap'] as const).map(kind => [
    kind,
    Decoration.mark({ class: `hastega-cm-${kind}` })
  ])
);

function decorate(view: EditorView): DecorationSet {
  const { doc } = view.state;
  if (doc.length > LONGEST || !isHastega(doc.sliceString(0, 200))) {
    return Decoration.none;
  }
  const set = new RangeSetBuilder<Decoration>();
  for (const mark of marks(doc.toString())) {
    const decoration = DECORATIONS.get(mark.kind);
    if (decoration !== undefined && mark.to > mark.from) {
      set.add(mark.from, mark.to, decoration);
    }
  }
  return set.finish();
}

/** The editor extension on its own. */
export function hastegaCells(): Extension {
  const plugin = ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;

      constructor(view: EditorView) {
        this.decorations = decorate(view);
      }

      update(update: ViewUpdate): void {
        if (update.docChanged) {
          this.decorations = decorate(update.view);
        }
      }
    },
    { decorations: each => each.decorations }
  );
  return Prec.highest(plugin);
}

const cells: JupyterFrontEndPlugin<void> = {
  id: 'hastega-magic:cells',
  description: 'Colours %%hastega cells.',
  autoStart: true,
  requires: [IEditorExtensionRegistry],
  activate: (_app: JupyterFrontEnd, registry: IEditorExtensionRegistry) => {
    registry.addExtension({
      name: 'hastega-cells',
      factory: () => ({ instance: hastegaCells, reconfigure: () => null })
    });
  }
};

const kernels: JupyterFrontEndPlugin<void> = {
  id: 'hastega-magic:kernels',
  description: 'Offers a panel under the reports of a living kernel, and says when its kernel is gone.',
  autoStart: true,
  activate: (app: JupyterFrontEnd) => {
    app.docRegistry.addWidgetExtension('Notebook', {
      // The factory's name says what the widget is: a notebook's panel.
      createNew: (panel, context) => {
        const run = (): void => void app.commands.execute('notebook:run-cell');
        const stop = followKernel(panel as unknown as Notebook, context.sessionContext, run);
        panel.disposed.connect(stop);
      }
    });
  }
};

export default [cells, kernels];
