// Short names for the schemas of `tb_backend/api/openapi.yaml`. The contract is the yaml; nothing is declared here.
import type { components } from './schema';

type Schemas = components['schemas'];

export type Area = Schemas['Area'];
export type Breakdown = Schemas['Breakdown'];
export type Communication = Schemas['Communication'];
export type Counters = Schemas['Counters'];
export type DeviceCard = Schemas['DeviceCard'];
export type EventRef = Schemas['EventRef'];
export type Group = Schemas['Group'];
export type Histogram = Schemas['Histogram'];
export type KernelRow = Schemas['KernelRow'];
export type Kernels = Schemas['Kernels'];
export type Memory = Schemas['Memory'];
export type MemoryBlocks = Schemas['MemoryBlocks'];
export type MemoryDevice = Memory['devices'][number];
export type Meta = Schemas['Meta'];
export type Names = Schemas['Names'];
export type Neighbour = Schemas['Neighbour'];
export type OperatorDetail = Schemas['OperatorDetail'];
export type OperatorRow = Schemas['OperatorRow'];
export type Operators = Schemas['Operators'];
export type Overview = Schemas['Overview'];
export type OverviewStep = Overview['steps'][number];
export type Problem = Schemas['Problem'];
export type Range = Schemas['Range'];
export type ReportEntry = Schemas['ReportEntry'];
export type Run = Schemas['Run'];
export type Runs = Schemas['Runs'];
export type SearchResult = Schemas['SearchResult'];
export type Span = Schemas['Span'];
export type Status = Schemas['Status'];
export type Step = Schemas['Step'];
export type Verdict = Schemas['Verdict'];
export type TraceEvent = Schemas['Event'];
