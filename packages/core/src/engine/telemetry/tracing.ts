import type { AgentEvent, ToolCallInfo, ToolOutcome, ToolSuspension } from '@evener/protocol'

// Nothing of OpenTelemetry is named here: what a program that imports us is typed with must not need a package that it may
// well not have.

/** What makes tracers. An OpenTelemetry tracer provider is one. */
export interface TracerSource {
  getTracer(name: string, version?: string): object
}

/** What is told of a turn to whoever traces it. */
export interface TurnTrace {
  /** Deltas say nothing to a trace. */
  observe(event: AgentEvent): void
  /** Carries out a tool within a span of its own, so that what it does itself is traced below it. */
  tool<Outcome extends ToolOutcome | ToolSuspension>(call: ToolCallInfo, work: () => Promise<Outcome>): Promise<Outcome>
  end(failure: unknown): void
}
