import type { ClientConnection } from '@agentclientprotocol/sdk'
import { InspanError, type JsonObject } from '@inspan/protocol'
import { asObject, NO_FIELDS } from '../kit/fields.ts'
import { acpErrorOf } from './acp-error.ts'
import { capabilitiesOf, GREETING, NO_CAPABILITIES, VERSION } from './greeting.ts'
import { loginsOf } from './outcome.ts'
import { AcpWire } from './wire.ts'

export interface ConnectionSetup {
  readonly title: string
  /** The agent sends us the files it writes, though we do not offer to take them. It writes them itself. */
  readonly tellsWrites?: boolean
}

export type AnswerPermission = (params: JsonObject, key: string, signal: AbortSignal) => Promise<JsonObject>

/** The conversation with one agent, through the protocol's own library. */
export class AcpConnection {
  readonly #setup: ConnectionSetup
  readonly #answer: AnswerPermission
  readonly #wire: AcpWire
  #connection: ClientConnection | undefined
  #can = NO_CAPABILITIES
  #logins: readonly string[] = []
  #asked = 0

  constructor(setup: ConnectionSetup, send: (message: JsonObject) => void, answer: AnswerPermission) {
    this.#setup = setup
    this.#answer = answer
    this.#wire = new AcpWire(send)
  }

  /** The capabilities that the agent reports. */
  get can(): typeof NO_CAPABILITIES {
    return this.#can
  }

  /** Whether a request is open, so that output has to be read even if the consumer of the events is slow. */
  get isWaiting(): boolean {
    return this.#asked > 0
  }

  /** Returns the method of our request that this record answers, if it is an answer. */
  receive(record: JsonObject): string | undefined {
    return this.#wire.receive(record)
  }

  /** Throws `unsupported` if the agent speaks another version. Loads the library, which only ACP agents need. */
  async greet(): Promise<void> {
    const { title, tellsWrites } = this.#setup
    const { client } = await import('@agentclientprotocol/sdk')
    const app = client({ name: 'inspan' }).onRequest(
      'session/request_permission',
      (params) => params as JsonObject,
      ({ params, requestId, signal }) => this.#answer(params, String(requestId), signal),
    )
    if (tellsWrites === true) app.onRequest('fs/write_text_file', asIs, () => ({}))
    this.#connection = app.connect(this.#wire.stream)
    const greeted = await this.ask('initialize', GREETING)
    this.#logins = loginsOf(greeted)
    const version = greeted['protocolVersion']
    if (version !== VERSION) {
      throw new InspanError('unsupported', `${title} speaks version ${JSON.stringify(version)} of the protocol.`, {
        hint: `Use a version of ${title} that speaks version ${VERSION}.`,
      })
    }
    this.#can = capabilitiesOf(asObject(greeted['agentCapabilities']) ?? NO_FIELDS)
  }

  /** Rejects with an `AcpError` if the agent refuses. */
  async ask(method: string, params: JsonObject): Promise<JsonObject> {
    this.#asked += 1
    try {
      return (await this.#agent.request<JsonObject | null>(method, params)) ?? NO_FIELDS
    } catch (error) {
      throw acpErrorOf(error, this.#logins)
    } finally {
      this.#asked -= 1
    }
  }

  /** Sends a request that takes long. Its answer is read from the agent's output, like everything else. */
  begin(method: string, params: JsonObject): void {
    this.#agent.request(method, params).catch(() => undefined)
  }

  async notify(method: string, params: JsonObject): Promise<void> {
    await this.#agent.notify(method, params)
  }

  close(): void {
    this.#connection?.close()
  }

  get #agent(): ClientConnection['agent'] {
    if (this.#connection === undefined) throw new InspanError('misuse', 'The agent has not been initialized yet.')
    return this.#connection.agent
  }
}

function asIs(params: unknown): unknown {
  return params
}
