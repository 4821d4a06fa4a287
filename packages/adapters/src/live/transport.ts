export interface TransportOptions {
  /**
   * `live`: one process stays, asks before it acts and can be steered. `print`: a process for every turn, which asks
   * nobody. `auto`, the default: live when somebody can answer.
   */
  readonly transport?: 'auto' | 'live' | 'print' | undefined
  /**
   * Somebody can answer questions, now or later. Default true: a question waits until it is answered. Set it to false
   * where nobody ever will, as in a script.
   */
  readonly canAnswer?: boolean | undefined
}

/** Decided when the agent is made, so that what it says it can do is true of every session. */
export function transportOf({ transport = 'auto', canAnswer = true }: TransportOptions): 'live' | 'print' {
  if (transport !== 'auto') return transport
  return canAnswer ? 'live' : 'print'
}

/** What both ways of running a program take, and the choice between them. */
export type AgentOptions<Print, Live> = TransportOptions & Live & Omit<Print, 'transport' | keyof Live>
