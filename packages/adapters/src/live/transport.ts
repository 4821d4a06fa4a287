import { InspanError } from '@inspan/protocol'
import { aFlag, checkFields, oneOf, type FieldRules } from '@inspan/protocol/internal'
import type { PermissionLevel } from '../launch/permissions.ts'

export interface TransportOptions {
  /**
   * `live`: one process, which asks before it acts and takes messages while it works. `print`: a process for every turn,
   * which asks nobody. `auto`: `live`, unless `canAnswer` is false. Default: `auto`.
   */
  readonly transport?: 'auto' | 'live' | 'print' | undefined
  /**
   * Whether somebody can answer questions, now or later. Set it to false if nobody ever will, as in a script. Default:
   * true.
   */
  readonly canAnswer?: boolean | undefined
}

const OPTIONS: FieldRules<TransportOptions> = { transport: oneOf('auto', 'live', 'print'), canAnswer: aFlag }

/** Chooses the transport when the agent is made, so that its capabilities hold for every session. */
export function transportOf(options: TransportOptions): 'live' | 'print' {
  checkFields('the options of an agent', options, OPTIONS)
  const { transport = 'auto', canAnswer = true } = options
  if (transport !== 'auto') return transport
  return canAnswer ? 'live' : 'print'
}

/**
 * Throws for a permission level below `full`, for CLIs that ask before every call in live mode. The rules answer those
 * questions, so nothing would enforce the level.
 */
export function refuseLevel(title: string, level: PermissionLevel | undefined): void {
  if (level === undefined || level === 'full') return
  throw new InspanError('unsupported', `\`permissions: '${level}'\` is not kept by ${title} while it is live.`, {
    hint: "It asks before every call: say what it may do by rules, or give it `transport: 'print'`.",
  })
}

/** The options of both transports, and the choice between them. */
export type LiveAgentOptions<Print, Live> = TransportOptions & Live & Omit<Print, 'transport' | keyof Live>
