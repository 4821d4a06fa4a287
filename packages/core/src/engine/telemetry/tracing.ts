import type { AgentEvent, ToolCallInfo } from '@inspan/protocol'
import type { ToolOutcome, ToolSuspension } from '@inspan/protocol/driver'

// No OpenTelemetry types here: programs that import ours must not need a package they may not have.

/** Makes tracers, e.g. an OpenTelemetry tracer provider. */
export interface TracerSource {
  getTracer(name: string, version?: string): object
}

/** The trace of a turn. */
export interface TurnTrace {
  /** Called with every event; deltas are ignored. */
  observe(event: AgentEvent): void
  /** Carries out a tool within its own span, so that what the tool does is traced below it. */
  tool<Outcome extends ToolOutcome | ToolSuspension>(call: ToolCallInfo, work: () => Promise<Outcome>): Promise<Outcome>
  end(failure: unknown): void
}
