"use strict";(self.rspackChunkhastega_magic=self.rspackChunkhastega_magic||[]).push([[266],{17(a,e,t){var r=t(18),o=t.n(r),s=t(19),n=(t.n(s))()(o());n.push([a.id,`/* Every rule begins with a class of ours; colours are Jupyter's variables, or pairs for light and dark. */

.hastega-report {
  --hg-vector: #0b5fa5;
  --hg-scalar: #8a5a00;
  --hg-memory: #6d3fa8;
  --hg-branch: #55606b;
  --hg-lit: #ffe59a;
  --hg-lit-ink: #1f1a00;
  --hg-part: #fdf5d9;
  --hg-plus: #d9f2de;
  --hg-minus: #f9e2cf;
  --hg-bad: #a4160f;
  --hg-bad-fill: #fdecea;
  --hg-note-fill: #fdf3d8;
  --hg-note-ink: #4d3800;
  --hg-accent: #0b5fa5;
  --hg-c0: #0b5fa5;
  --hg-c1: #b3261e;
  --hg-c2: #0f7d4f;
  --hg-c3: #8a5a00;
  --hg-c4: #6d3fa8;
  --hg-c5: #55606b;
  --hg-mono: var(--jp-code-font-family, monospace);

  color: var(--jp-content-font-color1, #212121);
  font-family: var(--jp-content-font-family, sans-serif);
  font-size: 13px;
  line-height: 1.45;
  padding: 4px 8px 8px 0;
  max-width: 1700px;
  overflow-wrap: break-word;
  container-type: inline-size;
}

[data-jp-theme-light='false'] .hastega-report {
  --hg-vector: #74b9f5;
  --hg-scalar: #e0ac4f;
  --hg-memory: #c3a1f0;
  --hg-branch: #a9b4bf;
  --hg-lit: #6b5600;
  --hg-lit-ink: #fff6d6;
  --hg-part: #3a321a;
  --hg-plus: #17402a;
  --hg-minus: #55331a;
  --hg-bad: #ff9d94;
  --hg-bad-fill: #43201d;
  --hg-note-fill: #3d3313;
  --hg-note-ink: #f3e2b0;
  --hg-accent: #74b9f5;
  --hg-c0: #74b9f5;
  --hg-c1: #ff8f85;
  --hg-c2: #6fd3a0;
  --hg-c3: #e0ac4f;
  --hg-c4: #c3a1f0;
  --hg-c5: #a9b4bf;
}

.hastega-report [hidden] {
  display: none;
}

.hastega-unseen {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}

.hastega-faint {
  color: var(--jp-content-font-color2, #616161);
  font-size: 12px;
}

.hastega-about {
  margin-top: 4px;
}

.hastega-verdict {
  font-size: 14px;
  margin-bottom: 4px;
}

.hastega-verdict b {
  margin-right: 10px;
}

/* \`32 \xd7 NumPy ✓\` stays together. */
.hastega-verdict > span {
  display: inline-block;
}

.hastega-verdict > .hastega-button {
  margin-right: 8px;
}

.hastega-bad {
  color: var(--hg-bad);
  font-weight: 600;
}

.hastega-alert,
.hastega-note {
  margin: 3px 0;
  padding: 3px 8px;
  border-left: 4px solid var(--hg-bad);
  background: var(--hg-bad-fill);
  color: var(--hg-bad);
}

.hastega-note {
  border-color: #a67c00;
  background: var(--hg-note-fill);
  color: var(--hg-note-ink);
}

.hastega-pipeline + .hastega-pipeline {
  border-top: 1px solid var(--jp-border-color2, #e0e0e0);
  margin-top: 10px;
  padding-top: 8px;
}

.hastega-body {
  min-height: 120px;
}

.hastega-shortened {
  margin-top: 6px;
}

/* -------------------------------------------------------------------------------- what needs a kernel */

.hastega-measure {
  display: none;
  margin-top: 8px;
}

.hastega-living .hastega-measure {
  display: inline-block;
}

/* A panel of widgets whose kernel is gone. */
.hastega-gone > :not(.hastega-lost) {
  opacity: 0.5;
}

/* A bar that stands still, and ipywidgets' sign of a lost connection on each of its widgets: it is said already. */
.hastega-gone .widget-hprogress {
  display: none;
}

.hastega-gone.jupyter-widgets-disconnected::before,
.hastega-gone .jupyter-widgets-disconnected::before {
  display: none;
}

/* ------------------------------------------------------------------------------------ the time bar */

.hastega-times {
  margin: 4px 0 8px;
  max-width: 1000px;
}

.hastega-bar {
  display: flex;
  height: 20px;
  margin: 2px 0 4px;
}

.hastega-part-of-time {
  box-sizing: border-box;
  min-width: 2px;
  overflow: hidden;
  border-right: 1px solid var(--jp-layout-color0, #fff);
  color: #fff;
  font-size: 11px;
  line-height: 20px;
  text-align: center;
  white-space: nowrap;
}

.hastega-phase0 { background: #6c6c65; }
.hastega-phase1 { background: #8f6a00; }
.hastega-phase2 { background: #6d4aa0; }
.hastega-phase3 { background: #1565a8; }
.hastega-phase4 { background: #0c6e5a; }
.hastega-phase5 { background: #875617; }
.hastega-phase6 { background: #a4508b; }
.hastega-phase7 { background: #44443f; }

.hastega-parts {
  display: flex;
  flex-wrap: wrap;
  gap: 2px 18px;
}

.hastega-swatch {
  display: inline-block;
  width: 10px;
  height: 10px;
  margin-right: 5px;
  border: 0;
}

/* --------------------------------------------------------------------------------- tabs and buttons */

.hastega-tabs {
  display: flex;
  flex-wrap: wrap;
  gap: 2px;
  border-bottom: 1px solid var(--jp-border-color1, #bdbdbd);
}

.hastega-tab,
.hastega-button {
  border: 1px solid transparent;
  background: transparent;
  color: var(--jp-ui-font-color1, #212121);
  font: inherit;
  cursor: pointer;
}

.hastega-tab {
  padding: 4px 12px;
  border-bottom: 3px solid transparent;
}

.hastega-tab:hover {
  background: var(--jp-layout-color2, #eee);
}

.hastega-tab[aria-selected='true'] {
  border-bottom-color: var(--hg-accent);
  font-weight: 600;
}

.hastega-button {
  padding: 0 8px;
  border-color: var(--jp-border-color1, #bdbdbd);
  border-radius: 3px;
  font-size: 12px;
  line-height: 20px;
}

.hastega-button:hover:not(:disabled) {
  background: var(--jp-layout-color2, #eee);
}

.hastega-button:disabled {
  opacity: 0.4;
  cursor: default;
}

.hastega-button[aria-pressed='true'] {
  border-color: var(--hg-accent);
  box-shadow: inset 0 -2px 0 var(--hg-accent);
}

.hastega-report :focus-visible {
  outline: 2px solid var(--hg-accent);
  outline-offset: -2px;
}

.hastega-panel {
  padding: 8px 0 0;
}

.hastega-toolbar {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 4px 6px;
  margin-bottom: 6px;
}

.hastega-legend {
  display: inline-flex;
  flex-wrap: wrap;
  gap: 4px 12px;
  margin-left: auto;
  font-size: 12px;
}

/* ------------------------------------------------------------------------------------ linked panes */

.hastega-card {
  display: flex;
  justify-content: space-between;
  gap: 20px;
  box-sizing: border-box;
  height: 96px;
  margin-bottom: 6px;
  padding: 5px 10px;
  overflow: auto;
  border: 1px solid var(--jp-border-color2, #e0e0e0);
  background: var(--jp-layout-color1, #fff);
}

.hastega-pinned > .hastega-card {
  border-color: var(--hg-accent);
}

.hastega-explained {
  min-width: 0;
}

.hastega-card .hastega-picture {
  flex: none;
  align-self: center;
}

.hastega-panes {
  display: flex;
  flex-wrap: wrap;
  gap: 8px;
}

.hastega-pane {
  flex: 1 1 290px;
  min-width: 0;
}

.hastega-panes > .hastega-short {
  flex-basis: 380px;
}

.hastega-panes > .hastega-pane-llvm,
.hastega-panes > .hastega-pane-opencl {
  flex-grow: 2;
}

/* The first column, the cell above the fused IR, is as high as the listings beside it. */
.hastega-panes .hastega-listing { max-height: 410px; }
.hastega-pane-source .hastega-listing { max-height: 122px; }
.hastega-pane-fused .hastega-listing { max-height: 262px; }
.hastega-panes.hastega-tall .hastega-listing { max-height: 820px; }
.hastega-tall .hastega-pane-source .hastega-listing { max-height: 240px; }
.hastega-tall .hastega-pane-fused .hastega-listing { max-height: 554px; }

/* Two in a row: the cell and the fused IR, and below them the long listings, of which LLVM's lines are the longest. */
@container (max-width: 1400px) {
  .hastega-panes > .hastega-short { display: contents; }
  .hastega-panes .hastega-pane { flex: 1 1 40%; }
  .hastega-panes > .hastega-pane-asm { flex: 1 1 max(34%, 360px); }
  .hastega-panes > .hastega-pane-llvm,
  .hastega-panes > .hastega-pane-opencl { flex: 3 1 50%; }
  .hastega-panes:not(.hastega-tall) .hastega-listing { max-height: 300px; }
  .hastega-panes:not(.hastega-tall) .hastega-short .hastega-listing { max-height: 172px; }
}

/* Where all stand below each other, each takes less. */
@container (max-width: 760px) {
  .hastega-panes .hastega-pane.hastega-pane { flex: 1 1 100%; }
  .hastega-panes:not(.hastega-tall) .hastega-listing { max-height: 190px; }
  .hastega-report .hastega-table .hastega-wide { display: none; }
  .hastega-card { height: 124px; }
}

.hastega-panehead {
  display: flex;
  align-items: baseline;
  gap: 8px;
  min-height: 22px;
}

.hastega-listing {
  position: relative;
  max-height: 380px;
  overflow: auto;
  border: 1px solid var(--jp-border-color2, #e0e0e0);
  background: var(--jp-cell-editor-background, #f5f5f5);
  font-family: var(--hg-mono);
  font-size: 12px;
  line-height: 1.4;
  cursor: default;
}

.hastega-line {
  display: flex;
  width: max-content;
  min-width: 100%;
  box-sizing: border-box;
  border-left: 3px solid transparent;
  white-space: pre;
}

/* What goes on below hangs a little deeper than what the line begins with. */
.hastega-wrap .hastega-line {
  width: auto;
}

.hastega-wrap .hastega-line > .hastega-code {
  flex: 1;
  min-width: 0;
  padding-left: 4ch;
  overflow-wrap: anywhere;
  text-indent: -4ch;
  white-space: pre-wrap;
}

.hastega-listing .hastega-number {
  flex: none;
  width: 3.4em;
  padding-right: 0.6em;
  color: var(--jp-content-font-color3, #8a8a8a);
  text-align: right;
  user-select: none;
}

.hastega-badge {
  flex: none;
  display: inline-block;
  width: 1.5em;
  font-family: var(--hg-mono);
  font-weight: 700;
  text-align: center;
}

.hastega-report .hastega-code,
.hastega-report code {
  padding: 0;
  background: transparent;
  color: inherit;
  font-family: var(--hg-mono);
  font-size: 12px;
  white-space: pre;
}

.hastega-explained code,
.hastega-report .hastega-alert code {
  white-space: pre-wrap;
}

.hastega-vector > .hastega-badge, .hastega-vector .hastega-op { color: var(--hg-vector); }
.hastega-scalar > .hastega-badge, .hastega-scalar .hastega-op { color: var(--hg-scalar); }
.hastega-memory > .hastega-badge, .hastega-memory .hastega-op { color: var(--hg-memory); }
.hastega-branch > .hastega-badge, .hastega-branch .hastega-op { color: var(--hg-branch); }

.hastega-op {
  font-weight: 600;
}

.hastega-span {
  border-bottom: 1px dotted var(--jp-content-font-color3, #8a8a8a);
}

.hastega-line.hastega-part {
  border-left-color: var(--hg-note-ink);
  border-left-style: dotted;
  background: var(--hg-part);
}

.hastega-line.hastega-lit,
.hastega-fold.hastega-lit,
.hastega-span.hastega-lit {
  border-color: var(--hg-accent);
  background: var(--hg-lit);
  color: var(--hg-lit-ink);
}

.hastega-lit > .hastega-number,
.hastega-lit > .hastega-badge,
.hastega-lit .hastega-op {
  color: var(--hg-lit-ink);
}

.hastega-line.hastega-active {
  outline: 1px solid var(--hg-accent);
  outline-offset: -1px;
}

.hastega-listing:not(:focus) .hastega-active {
  outline-style: dotted;
}

/* Where lines are missing. */
.hastega-report .hastega-cut {
  color: var(--hg-note-ink);
  background: var(--hg-note-fill);
}

.hastega-fold {
  padding: 1px 8px;
  border-left: 3px solid transparent;
  background: var(--jp-layout-color2, #eee);
  color: var(--jp-content-font-color2, #616161);
  cursor: pointer;
}

.hastega-fold.hastega-active {
  outline: 1px solid var(--hg-accent);
  outline-offset: -1px;
}

/* ------------------------------------------------------------------------------------------ passes */

.hastega-track {
  display: flex;
  flex-wrap: wrap;
  gap: 4px;
  margin: 0 0 6px;
  padding: 0;
  list-style: none;
}

.hastega-track [aria-current='step'] {
  border-color: var(--hg-accent);
  box-shadow: inset 0 -2px 0 var(--hg-accent);
  font-weight: 600;
}

.hastega-doc {
  min-height: 1.5em;
  margin-bottom: 4px;
}

.hastega-diff {
  max-height: 380px;
}

.hastega-added { background: var(--hg-plus); }
.hastega-removed { background: var(--hg-minus); }
.hastega-gap { color: var(--jp-content-font-color2, #616161); background: var(--jp-layout-color2, #eee); }

/* ------------------------------------------------------------------------------------------ tables */

.hastega-report table.hastega-table,
.hastega-report table.hastega-lanes {
  margin: 4px 0;
  border-collapse: collapse;
  font-size: 13px;
  table-layout: auto;
}

.hastega-report .hastega-table th,
.hastega-report .hastega-table td {
  max-width: none;
  padding: 2px 14px 2px 0;
  border: 0;
  text-align: left;
  vertical-align: middle;
  white-space: nowrap;
}

.hastega-report .hastega-table thead th {
  color: var(--jp-content-font-color2, #616161);
  font-weight: 400;
}

.hastega-report .hastega-table td.hastega-number-cell {
  font-variant-numeric: tabular-nums;
  text-align: right;
}

.hastega-report .hastega-table tr {
  background: transparent;
}

.hastega-report .hastega-table tr.hastega-best th,
.hastega-report .hastega-table tr.hastega-best td {
  font-weight: 600;
}

.hastega-wide {
  width: 320px;
}

.hastega-report .hastega-table td.hastega-how {
  min-width: 130px;
  white-space: normal;
}

.hastega-baselines {
  margin-bottom: 8px;
}

.hastega-rule {
  height: 14px;
  background: #77776f;
}

.hastega-ours { background: var(--hg-accent); }

.hastega-guessed {
  background: repeating-linear-gradient(45deg, #77776f 0 3px, transparent 3px 6px);
  outline: 1px solid #77776f;
}

.hastega-plain {
  margin: 2px 0;
  padding-left: 20px;
}

.hastega-scroll {
  overflow-x: auto;
}

/* -------------------------------------------------------------------------------------- the slider */

.hastega-sliderow {
  display: flex;
  align-items: center;
  gap: 10px;
  max-width: 680px;
}

.hastega-slider {
  flex: 1;
  accent-color: var(--hg-accent);
}

.hastega-sliderow output {
  min-width: 12em;
  font-weight: 600;
}

.hastega-chart {
  max-width: 100%;
  height: auto;
}

.hastega-grid { stroke: var(--jp-border-color2, #e0e0e0); }
.hastega-curve { fill: none; stroke-width: 2; }
.hastega-curve0 { stroke: var(--hg-c0); }
.hastega-curve1 { stroke: var(--hg-c1); }
.hastega-curve2 { stroke: var(--hg-c2); }
.hastega-curve3 { stroke: var(--hg-c3); }
.hastega-curve4 { stroke: var(--hg-c4); }
.hastega-curve5 { stroke: var(--hg-c5); }
.hastega-dot { fill: var(--jp-layout-color0, #fff); }
.hastega-bead { fill: currentColor; }
.hastega-cursor { stroke: var(--jp-content-font-color1, #212121); stroke-dasharray: 3 3; }
.hastega-crossing { fill: none; stroke: var(--jp-content-font-color1, #212121); stroke-width: 1.5; }

.hastega-halo {
  paint-order: stroke;
  stroke: var(--jp-layout-color0, #fff);
  stroke-width: 3px;
}

.hastega-crossing-label {
  fill: var(--jp-content-font-color1, #212121);
  font-size: 12px;
  font-weight: 600;
  paint-order: stroke;
  stroke: var(--jp-layout-color0, #fff);
  stroke-width: 3px;
}

/* --------------------------------------------------------------------------------- pictures, graphs */

.hastega-label {
  fill: var(--jp-content-font-color2, #616161);
  font-size: 11px;
}

.hastega-mono,
.hastega-value {
  fill: var(--jp-content-font-color1, #212121);
  font-family: var(--hg-mono);
  font-size: 11px;
}

.hastega-cell { fill: var(--jp-layout-color2, #eee); stroke: var(--jp-border-color1, #bdbdbd); }
.hastega-result { fill: var(--hg-lit); stroke: var(--hg-accent); }
.hastega-result ~ .hastega-value { fill: var(--jp-content-font-color1, #212121); }
.hastega-hatch { stroke: var(--jp-content-font-color2, #616161); stroke-width: 2; }
.hastega-arrow,
.hastega-edge { fill: none; stroke: var(--jp-content-font-color2, #616161); stroke-width: 1.2; }
.hastega-tip { fill: var(--jp-content-font-color2, #616161); }

.hastega-graphs {
  display: flex;
  flex-wrap: wrap;
  gap: 16px 40px;
}

.hastega-graphs figure {
  margin: 0;
  overflow-x: auto;
}

.hastega-box { fill: var(--jp-layout-color1, #fff); stroke: var(--jp-border-color0, #77776f); }
.hastega-box-source { stroke: var(--hg-c0); stroke-width: 2; }
.hastega-box-sink,
.hastega-box-result { stroke: var(--hg-c2); stroke-width: 2; }
.hastega-box-barrier { fill: var(--hg-bad-fill); stroke: var(--hg-bad); stroke-width: 2; stroke-dasharray: 5 3; }

/* ------------------------------------------------------------------------------------------- lanes */

.hastega-report .hastega-lanes th,
.hastega-report .hastega-lanes td {
  padding: 2px 8px;
  font-weight: 400;
  text-align: left;
}

.hastega-report .hastega-lanes thead th {
  border: 0;
  color: var(--jp-content-font-color2, #616161);
  font-size: 11px;
  text-align: center;
}

/* A long step is written in several lines before lanes go out of sight. */
.hastega-report .hastega-lanes tbody th code {
  white-space: pre-wrap;
}

.hastega-report .hastega-lanes tr {
  background: transparent;
  opacity: 0.65;
}

.hastega-report .hastega-lanes thead tr,
.hastega-report .hastega-lanes tr.hastega-now {
  opacity: 1;
}

.hastega-report .hastega-lanes td.hastega-lane,
.hastega-report .hastega-lanes td.hastega-dead {
  min-width: 44px;
  border: 1px solid var(--jp-border-color1, #bdbdbd);
  font-family: var(--hg-mono);
  font-size: 12px;
  text-align: center;
}

.hastega-report .hastega-lanes .hastega-now td.hastega-lane {
  border-color: var(--hg-accent);
  background: var(--hg-lit);
  color: var(--hg-lit-ink);
}

.hastega-report .hastega-lanes td.hastega-dead {
  background: repeating-linear-gradient(45deg, var(--jp-border-color2, #ddd) 0 3px, transparent 3px 8px);
  text-decoration: line-through;
}

/* ----------------------------------------------------------------------------- cells of the language */

.cm-editor .hastega-cm-magic,
.cm-editor .hastega-cm-magic * {
  color: var(--jp-mirror-editor-keyword-color, #008000);
  font-weight: 700;
}

.cm-editor .hastega-cm-option,
.cm-editor .hastega-cm-option * {
  color: var(--jp-mirror-editor-attribute-color, #00c);
}

.cm-editor .hastega-cm-pipe,
.cm-editor .hastega-cm-pipe * {
  color: var(--jp-mirror-editor-operator-color, #aa22ff);
  font-weight: 700;
}

.cm-editor .hastega-cm-stage,
.cm-editor .hastega-cm-stage * {
  color: var(--jp-mirror-editor-def-color, #00f);
  font-weight: 600;
}

.cm-editor .hastega-cm-sink,
.cm-editor .hastega-cm-sink * {
  color: var(--jp-mirror-editor-def-color, #00f);
  font-weight: 600;
  text-decoration: underline;
}

.cm-editor .hastega-cm-tap,
.cm-editor .hastega-cm-tap * {
  color: var(--jp-mirror-editor-error-color, #b00);
  font-weight: 600;
}
`,""]),t.d(e,{},{A:n})},19(a){a.exports=function(a){var e=[];return e.toString=function(){return this.map(function(e){var t="",r=void 0!==e[5];return e[4]&&(t+="@supports (".concat(e[4],") {")),e[2]&&(t+="@media ".concat(e[2]," {")),r&&(t+="@layer".concat(e[5].length>0?" ".concat(e[5]):""," {")),t+=a(e),r&&(t+="}"),e[2]&&(t+="}"),e[4]&&(t+="}"),t}).join("")},e.i=function(a,t,r,o,s){"string"==typeof a&&(a=[[null,a,void 0]]);var n={};if(r)for(var h=0;h<this.length;h++){var g=this[h][0];null!=g&&(n[g]=!0)}for(var i=0;i<a.length;i++){var l=[].concat(a[i]);r&&n[l[0]]||(void 0!==s&&(void 0===l[5]||(l[1]="@layer".concat(l[5].length>0?" ".concat(l[5]):""," {").concat(l[1],"}")),l[5]=s),t&&(l[2]&&(l[1]="@media ".concat(l[2]," {").concat(l[1],"}")),l[2]=t),o&&(l[4]?(l[1]="@supports (".concat(l[4],") {").concat(l[1],"}"),l[4]=o):l[4]="".concat(o)),e.push(l))}},e}},18(a){a.exports=function(a){return a[1]}},10(a,e,t){t.r(e);var r=t(11),o=t.n(r),s=t(12),n=t.n(s),h=t(13),g=t.n(h),i=t(14),l=t.n(i),p=t(15),c=t.n(p),d=t(16),f=t.n(d),b=t(17),x={};x.styleTagTransform=f(),x.setAttributes=l(),x.insert=g().bind(null,"head"),x.domAPI=n(),x.insertStyleElement=c(),o()(b.A,x);let u=b.A&&b.A.locals?b.A.locals:void 0;t.d(e,{},{default:u})},11(a){var e=[];function t(a){for(var t=-1,r=0;r<e.length;r++)if(e[r].identifier===a){t=r;break}return t}function r(a,r){for(var o={},s=[],n=0;n<a.length;n++){var h=a[n],g=r.base?h[0]+r.base:h[0],i=o[g]||0,l="".concat(g," ").concat(i);o[g]=i+1;var p=t(l),c={css:h[1],media:h[2],sourceMap:h[3],supports:h[4],layer:h[5]};if(-1!==p)e[p].references++,e[p].updater(c);else{var d=function(a,e){var t=e.domAPI(e);return t.update(a),function(e){e?(e.css!==a.css||e.media!==a.media||e.sourceMap!==a.sourceMap||e.supports!==a.supports||e.layer!==a.layer)&&t.update(a=e):t.remove()}}(c,r);r.byIndex=n,e.splice(n,0,{identifier:l,updater:d,references:1})}s.push(l)}return s}a.exports=function(a,o){var s=r(a=a||[],o=o||{});return function(a){a=a||[];for(var n=0;n<s.length;n++){var h=t(s[n]);e[h].references--}for(var g=r(a,o),i=0;i<s.length;i++){var l=t(s[i]);0===e[l].references&&(e[l].updater(),e.splice(l,1))}s=g}}},13(a){var e={};a.exports=function(a,t){var r=function(a){if(void 0===e[a]){var t=document.querySelector(a);if(window.HTMLIFrameElement&&t instanceof window.HTMLIFrameElement)try{t=t.contentDocument.head}catch(a){t=null}e[a]=t}return e[a]}(a);if(!r)throw Error("Couldn't find a style target. This probably means that the value for the 'insert' parameter is invalid.");r.appendChild(t)}},15(a){a.exports=function(a){var e=document.createElement("style");return a.setAttributes(e,a.attributes),a.insert(e,a.options),e}},14(a,e,t){a.exports=function(a){var e=t.nc;e&&a.setAttribute("nonce",e)}},12(a){a.exports=function(a){if("u"<typeof document)return{update:function(){},remove:function(){}};var e=a.insertStyleElement(a);return{update:function(t){var r,o,s;r="",t.supports&&(r+="@supports (".concat(t.supports,") {")),t.media&&(r+="@media ".concat(t.media," {")),(o=void 0!==t.layer)&&(r+="@layer".concat(t.layer.length>0?" ".concat(t.layer):""," {")),r+=t.css,o&&(r+="}"),t.media&&(r+="}"),t.supports&&(r+="}"),(s=t.sourceMap)&&"u">typeof btoa&&(r+="\n/*# sourceMappingURL=data:application/json;base64,".concat(btoa(unescape(encodeURIComponent(JSON.stringify(s))))," */")),a.styleTagTransform(r,e,a.options)},remove:function(){var a;null===(a=e).parentNode||a.parentNode.removeChild(a)}}}},16(a){a.exports=function(a,e){if(e.styleSheet)e.styleSheet.cssText=a;else{for(;e.firstChild;)e.removeChild(e.firstChild);e.appendChild(document.createTextNode(a))}}}}]);