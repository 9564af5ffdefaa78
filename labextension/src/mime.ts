/** The renderer of `application/vnd.hastega.report+json`: needs the report alone, no kernel and no trust. */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { Widget } from '@lumino/widgets';

import { decode, MIME } from './report';
import { reportView, ReportView } from './view';

class Rendered extends Widget implements IRenderMime.IRenderer {
  private _view: ReportView | null = null;

  constructor() {
    super();
    this.addClass('hastega-host');
  }

  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    this._view?.dispose();
    this._view = reportView(decode(model.data[MIME]));
    this.node.replaceChildren(this._view.element);
  }

  override dispose(): void {
    this._view?.dispose();
    this._view = null;
    super.dispose();
  }
}

const extension: IRenderMime.IExtension = {
  id: 'hastega-magic:report',
  description: 'Shows the reports of %%hastega cells.',
  rendererFactory: {
    safe: true, // nothing of the data can become markup or script
    mimeTypes: [MIME],
    createRenderer: () => new Rendered()
  },
  rank: 0,
  dataType: 'json'
};

export default extension;
