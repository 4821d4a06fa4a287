import { aFlag, checkFields, EvenerError, oneOf, type FieldRules } from '@evener/protocol'
import type { PermissionLevel } from '../launch/permissions.ts'

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

const OPTIONS: FieldRules<TransportOptions> = { transport: oneOf('auto', 'live', 'print'), canAnswer: aFlag }

/** Decided when the agent is made, so that what it says it can do is true of every session. */
export function transportOf(options: TransportOptions): 'live' | 'print' {
  checkFields('the options of an agent', options, OPTIONS)
  const { transport = 'auto', canAnswer = true } = options
  if (transport !== 'auto') return transport
  return canAnswer ? 'live' : 'print'
}

/**
 * Of a program that asks before every call when it is live: rules answer it, so there is nothing that would keep it to a
 * level. It is not begun under one that it would not be kept to.
 */
export function refuseLevel(title: string, level: PermissionLevel | undefined): void {
  if (level === undefined || level === 'full') return
  throw new EvenerError('unsupported', `\`permissions: '${level}'\` is not kept by ${title} while it is live.`, {
    hint: "It asks before every call: say what it may do by rules, or give it `transport: 'print'`.",
  })
}

/** What both ways of running a program take, and the choice between them. */
export type AgentOptions<Print, Live> = TransportOptions & Live & Omit<Print, 'transport' | keyof Live>
