// The views that this page can show, each in its own chunk.
import type { Component } from 'svelte';
import type { ViewContext } from '../views/context';

type ViewModule = Promise<{ default: Component<{ ctx: ViewContext }> }>;

export const kLoaders: Readonly<Record<string, () => ViewModule>> = {
  overview: () => import('../views/overview/Overview.svelte'),
  operators: () => import('../views/operators/OperatorsView.svelte'),
  kernels: () => import('../views/kernels/KernelsView.svelte'),
  modules: () => import('../views/modules/ModulesView.svelte'),
  roofline: () => import('../views/roofline/RooflineView.svelte'),
  memory: () => import('../views/memory/MemoryView.svelte'),
  distributed: () => import('../views/distributed/DistributedView.svelte'),
  compare: () => import('../views/compare/CompareView.svelte'),
  trace: () => import('../views/trace/TraceView.svelte'),
  metrics: () => import('../views/metrics/MetricsView.svelte'),
  notes: () => import('../views/notes/NotesView.svelte'),
};

/** Views about what lies beside a trace: there whatever was recorded. */
export const kBesides: readonly string[] = ['metrics', 'notes'];
