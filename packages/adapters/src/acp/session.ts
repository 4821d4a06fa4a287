import { InspanError, type JsonObject } from '@inspan/protocol'
import { asArray, asObject, asText, NO_FIELDS } from '../kit/fields.ts'
import type { LaunchRequest } from '../launch/launch-plan.ts'
import { AcpError } from './acp-error.ts'
import type { AcpConnection } from './connection.ts'
import { mcpServersOf } from './prompt-blocks.ts'

export interface SessionSetup {
  readonly title: string
  /** The mode that sessions have to be in for the agent to ask. */
  readonly mode?: string
  /** MCP servers are given to the agent when it is started, not with the session. */
  readonly hasOwnMcp?: boolean
}

/** A setting that can be chosen, and its current value. */
interface AgentChoice {
  readonly id: string
  readonly current: string | undefined
}

/** A native session of an agent. */
export class AcpSession {
  readonly id: string
  /** Why this is not the session that was to be resumed. */
  readonly because: string | undefined
  readonly #connection: AcpConnection
  readonly #title: string
  readonly #model: AgentChoice | undefined
  #chosen: string | undefined

  private constructor(connection: AcpConnection, title: string, opened: OpenedSession) {
    this.#connection = connection
    this.#title = title
    this.id = opened.id
    this.because = opened.because
    this.#model = choiceOf(opened.answer, 'model')
    this.#chosen = this.#model?.current
  }

  /** Opens a new session or resumes one. Begins a new one if that fails: a lost session must not prevent an answer. */
  static async open(connection: AcpConnection, request: LaunchRequest, setup: SessionSetup): Promise<AcpSession> {
    const { session, cwd, mcp } = request
    const { title, mode, hasOwnMcp } = setup
    const mcpServers = hasOwnMcp === true ? [] : mcpServersOf(mcp, title, connection.can)
    const place = { cwd, mcpServers }
    const opened =
      session.kind === 'new' ? await begin(connection, place) : await goOn(connection, session.nativeId, place)
    if (mode !== undefined) await useMode(connection, opened, mode)
    return new AcpSession(connection, title, opened)
  }

  /** Chooses the model. Without one, goes back to the model that the agent had chosen itself. */
  async useModel(model: string | undefined): Promise<void> {
    const wanted = model ?? this.#model?.current
    if (wanted === undefined || wanted === this.#chosen) return
    if (this.#model === undefined) {
      throw new InspanError('unsupported', `${this.#title} does not let its model be chosen.`, {
        hint: 'Choose it in its own settings, and leave it out here.',
      })
    }
    await choose(this.#connection, this.id, this.#model.id, wanted)
    this.#chosen = wanted
  }
}

interface OpenedSession {
  readonly id: string
  readonly answer: JsonObject
  readonly because?: string
}

async function begin(connection: AcpConnection, place: JsonObject): Promise<OpenedSession> {
  const answer = await connection.ask('session/new', place)
  return { id: asText(answer['sessionId']) ?? '', answer }
}

async function goOn(connection: AcpConnection, sessionId: string, place: JsonObject): Promise<OpenedSession> {
  const { canResume, canLoad } = connection.can
  if (!canResume && !canLoad) return { ...(await begin(connection, place)), because: 'it cannot continue a session' }
  try {
    // Loading, unlike resuming, replays the whole past.
    const answer = await connection.ask(canResume ? 'session/resume' : 'session/load', { sessionId, ...place })
    return { id: sessionId, answer }
  } catch (error) {
    if (!(error instanceof AcpError) || error.isAuthRequired) throw error
    return { ...(await begin(connection, place)), because: error.message }
  }
}

async function useMode(connection: AcpConnection, { id, answer }: OpenedSession, mode: string): Promise<void> {
  const modes = asObject(answer['modes'])
  const choice = choiceOf(answer, 'mode')
  if ((modes?.['currentModeId'] ?? choice?.current) === mode) return
  if (modes === undefined && choice !== undefined) await choose(connection, id, choice.id, mode)
  else await connection.ask('session/set_mode', { sessionId: id, modeId: mode })
}

async function choose(connection: AcpConnection, sessionId: string, configId: string, value: string): Promise<void> {
  await connection.ask('session/set_config_option', { sessionId, configId, value })
}

/** Several settings may have this category; the one whose id is the category takes precedence. */
function choiceOf(answer: JsonObject, category: 'mode' | 'model'): AgentChoice | undefined {
  const options = (asArray(answer['configOptions']) ?? []).map((option) => asObject(option) ?? NO_FIELDS)
  const choices = options.filter((option) => option['category'] === category && option['type'] === 'select')
  const option = choices.find(({ id }) => id === category) ?? choices[0]
  const id = asText(option?.['id'])
  return id === undefined ? undefined : { id, current: asText(option?.['currentValue']) }
}
