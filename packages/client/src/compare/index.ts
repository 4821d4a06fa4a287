/** One prompt over several agents: what each did, side by side. */
export { laneReport, type LaneCommand, type LaneReport, type LaneStatus } from './lane-report.ts'
export { runLane, type LaneOptions } from './run-lane.ts'
export { comparisonTable, exportComparison, type Comparison, type ComparisonFormat } from './export-comparison.ts'
