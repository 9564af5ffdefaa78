/**
 * The report as it stands in a notebook (`application/vnd.hastega.report+json`), read with a suspicious eye.
 *
 * A report may come from a newer version, from an older one, or from somebody's editor. `decode` takes any
 * value and never throws: what it does not know it drops, what is missing it defaults.
 * Times are seconds, sizes bytes; line numbers count from 1, columns from 0 in code points, as in Python.
 */

import { Bound, boundOf } from './bound';
import { Candidate, Repeated, repeated, Share, shares, tried } from './choices';
import { curves, Model } from './curves';
import { fields, list, number, text, whole } from './fields';

export type { Model };

export const MIME = 'application/vnd.hastega.report+json';
export const SCHEMA = 1;

/** The listings that links lead to, in the order in which code comes into being. */
export const TARGETS = ['fused', 'llvm', 'asm', 'opencl'] as const;
export type Target = (typeof TARGETS)[number];
export type PaneKey = 'source' | Target;

/** A place in the cell's text; the end is exclusive. */
export interface Span {
  readonly line: number;
  readonly col: number;
  readonly endLine: number;
  readonly endCol: number;
}

/** One computation: where it stands in the cell, and the lines of each listing that came from it. */
export interface Link {
  readonly span: Span;
  readonly text: string;
  readonly lines: Readonly<Record<Target, readonly number[]>>;
}

export interface Phase {
  readonly name: string;
  readonly seconds: number;
  readonly bytes: number;
  /** So many of the seconds Python ran stages itself. */
  readonly python: number;
}

export interface Baseline {
  readonly backend: string;
  readonly seconds: number;
  readonly spread: readonly number[];
  readonly elements: number;
  readonly extrapolated: boolean;
  readonly equal: boolean;
  readonly phases: readonly Phase[];
  readonly note: string;
}

export interface Barrier {
  readonly stage: string;
  readonly reason: string;
  readonly line: number;
}

export interface PassText {
  readonly name: string;
  readonly doc: string;
  readonly text: string;
}

export interface GraphNode {
  readonly id: string;
  readonly kind: string;
  readonly label: string;
  readonly type: string;
  readonly range: string;
  readonly elements: number;
  readonly bytes: number;
  readonly reason: string;
}

export interface GraphEdge {
  readonly source: string;
  readonly target: string;
  readonly label: string;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** One step of the loop on one vector: a value for each lane, and which lanes still count. */
export interface LaneStep {
  readonly line: number;
  readonly text: string;
  readonly values: readonly string[];
  readonly active: readonly boolean[];
}

export interface Lanes {
  readonly lanes: number;
  /** How many steps there are, shown or not. */
  readonly total: number;
  readonly steps: readonly LaneStep[];
}

export interface Pipeline {
  readonly name: string;
  readonly stages: readonly string[];
  readonly results: readonly string[];
  readonly loops: number;
  readonly barriers: readonly Barrier[];
  readonly backend: string;
  readonly device: string;
  readonly threads: number;
  readonly elements: number;
  readonly vector: {
    readonly lanes: number;
    readonly bits: number;
    readonly inFlight: number;
    readonly isa: string;
    readonly scalarOps: readonly string[];
  };
  readonly int: {
    readonly mode: string;
    readonly proved: boolean;
    readonly guarded: boolean;
    readonly fellBack: boolean;
  };
  readonly code: Readonly<Record<Target | 'pipeline', string>> & {
    readonly passes: readonly PassText[];
    /** Listings that are there for comparison alone: nothing ran them. */
    readonly notRun: readonly string[];
  };
  readonly links: readonly Link[];
  readonly phases: readonly Phase[];
  /** Seconds that the running phases share, because they ran at once. */
  readonly overlapped: number;
  readonly repeated: Repeated | null;
  readonly cached: boolean;
  /** The name of the exception that ended it; '' where it gave its results. */
  readonly raised: string;
  readonly baselines: readonly Baseline[];
  readonly before: Graph;
  readonly after: Graph;
  readonly why: readonly string[];
  readonly warnings: readonly string[];
  readonly instructions: ReadonlyMap<string, number>;
  readonly model: Model | null;
  readonly bound: Bound | null;
  readonly lanes: Lanes | null;
  /** Back ends that computed it at once; none where one did. */
  readonly shares: readonly Share[];
  /** Schedules that were tried, the compiler's own first. */
  readonly tried: readonly Candidate[];
  /** What was cut to keep the notebook small, as `code.llvm` or `stages`, and how much of it there is. */
  readonly cut: ReadonlyMap<string, number>;
}

export interface Report {
  readonly schema: number;
  readonly source: string;
  /** Whether a panel would have something to measure. */
  readonly measurable: boolean;
  /** What was waited for beside the pipelines. */
  readonly phases: readonly Phase[];
  readonly why: readonly string[];
  readonly warnings: readonly string[];
  readonly pipelines: readonly Pipeline[];
}

/** The report in a value of any kind. */
export function decode(value: unknown): Report {
  const data = fields(value);
  const cell = fields(data['cell']);
  return {
    schema: whole(data['schema'], SCHEMA),
    source: text(cell['source']),
    measurable: cell['measurable'] === true,
    phases: list(cell['phases'], phase),
    why: list(cell['why'], text),
    warnings: list(cell['warnings'], text),
    pipelines: list(data['pipelines'], pipeline)
  };
}

function pipeline(value: unknown): Pipeline {
  const data = fields(value);
  const vector = fields(data['vector']);
  const int = fields(data['int']);
  const code = fields(data['code']);
  const pair = fields(data['graph']);
  return {
    name: text(data['name']),
    stages: list(data['stages'], text),
    results: list(data['results'], text),
    loops: whole(data['loops']),
    barriers: list(data['barriers'], barrier),
    backend: text(data['backend']),
    device: text(data['device']),
    threads: whole(data['threads']),
    elements: whole(data['elements']),
    vector: {
      lanes: whole(vector['lanes']),
      bits: whole(vector['bits']),
      inFlight: whole(vector['in_flight']),
      isa: text(vector['isa']),
      scalarOps: list(vector['scalar_ops'], text)
    },
    int: {
      mode: text(int['mode']),
      proved: int['proved'] === true,
      guarded: int['guarded'] === true,
      fellBack: int['fell_back'] === true
    },
    code: {
      pipeline: text(code['pipeline']),
      fused: text(code['fused']),
      llvm: text(code['llvm']),
      asm: text(code['asm']),
      opencl: text(code['opencl']),
      passes: list(code['passes'], step => {
        const each = fields(step);
        return { name: text(each['name']), doc: text(each['doc']), text: text(each['text']) };
      }),
      notRun: list(code['not_run'], text)
    },
    links: list(data['links'], link).filter(each => each !== null),
    phases: list(data['phases'], phase),
    overlapped: Math.max(0, number(data['overlapped'])),
    repeated: repeated(data),
    cached: data['cached'] === true,
    raised: text(data['raised']),
    baselines: list(data['baselines'], baseline),
    before: graph(pair['before']),
    after: graph(pair['after']),
    why: list(data['why'], text),
    warnings: list(data['warnings'], text),
    instructions: counts(data['instructions']),
    model: curves(data['model'], data['cost']),
    bound: boundOf(data['cost']),
    lanes: lanes(data['lanes']),
    shares: shares(data),
    tried: tried(data),
    cut: counts(data['cut'])
  };
}

function counts(value: unknown): Map<string, number> {
  return new Map(Object.entries(fields(value)).map(([key, n]) => [key, whole(n)]));
}

function barrier(value: unknown): Barrier {
  const data = fields(value);
  return { stage: text(data['stage']), reason: text(data['reason']), line: list(data['span'], whole)[0] ?? 0 };
}

function phase(value: unknown): Phase {
  const data = fields(value);
  return { name: text(data['name']), seconds: number(data['seconds']), bytes: number(data['bytes']), python: number(data['python']) };
}

function baseline(value: unknown): Baseline {
  const data = fields(value);
  return {
    backend: text(data['backend']),
    seconds: number(data['seconds']),
    spread: list(data['spread'], number),
    elements: whole(data['elements']),
    extrapolated: data['extrapolated'] === true,
    equal: data['equal'] === true,
    phases: list(data['phases'], phase),
    note: text(data['note'])
  };
}

function link(value: unknown): Link | null {
  const data = fields(value);
  const [line, col, endLine, endCol] = list(data['span'], item => whole(item, -1));
  if (line === undefined || col === undefined || endLine === undefined || endCol === undefined) {
    return null;
  }
  if (line < 1 || col < 0 || endLine < line || (endLine === line && endCol <= col)) {
    return null;
  }
  const numbers = (key: Target): number[] => list(data[key], item => whole(item)).filter(n => n > 0);
  return {
    span: { line, col, endLine, endCol },
    text: text(data['text']),
    lines: { fused: numbers('fused'), llvm: numbers('llvm'), asm: numbers('asm'), opencl: numbers('opencl') }
  };
}

function graph(value: unknown): Graph {
  const data = fields(value);
  const nodes = list(data['nodes'], item => {
    const node = fields(item);
    return {
      id: text(node['id']),
      kind: text(node['kind']) || 'stage',
      label: text(node['label']),
      type: text(node['type']),
      range: text(node['range']),
      elements: whole(node['elements'], -1),
      bytes: number(node['bytes'], -1),
      reason: text(node['reason'])
    };
  });
  const known = new Set(nodes.map(node => node.id));
  const edges = list(data['edges'], item => {
    const [source = '', target = '', label = ''] = list(item, text);
    return { source, target, label };
  });
  return { nodes, edges: edges.filter(edge => known.has(edge.source) && known.has(edge.target)) };
}

function lanes(value: unknown): Lanes | null {
  const data = fields(value);
  const steps = list(data['steps'], item => {
    const step = fields(item);
    return {
      line: whole(step['line']),
      text: text(step['text']),
      values: list(step['values'], text),
      active: list(step['active'], each => each !== false)
    };
  });
  if (steps.length === 0) {
    return null;
  }
  const count = Math.max(1, Math.min(1024, whole(data['lanes'], steps[0]?.values.length ?? 0)));
  return { lanes: count, total: Math.max(steps.length, whole(data['total'])), steps };
}
