import { randomUUID } from 'node:crypto'
import { listen, say, type Json } from './stand-in-io.ts'

/** One prompt of the stand-in, as its body sees it. */
export interface PiStandInTurn {
  readonly prompt: string
  /** How many prompts this process has had, this one included. */
  readonly count: number
  readonly session: string
  readonly model: string
  /** Settles when the turn was aborted. */
  readonly aborted: Promise<void>
  say(text: string): void
  /** The next message that is given while it works. */
  steered(): Promise<string>
  /** Settles when a dialog has been answered. */
  readonly dismissed: Promise<void>
  /** Tells how many messages wait. */
  queue(...waiting: readonly string[]): void
  raw(text: string): void
  record(record: Json): void
}

/** By command: why it is refused, or `null` for no answer at all. */
export interface Refusals {
  readonly [command: string]: string | null
}

const steeredTexts: string[] = []
let wakeSteered: (() => void) | undefined
let abort: (() => void) | undefined
const dialog = Promise.withResolvers<void>()
let session = 'native-1'
let model = 'own/model'
let prompts = 0
let stamp = 1_000

function answer({ id, type }: Json, data?: Json): void {
  say({ id, type: 'response', command: type, success: true, ...(data === undefined ? {} : { data }) })
}

function speak(text: string): void {
  stamp += 1
  const content = [{ type: 'text', text }]
  say({ type: 'message_end', message: { role: 'assistant', content, stopReason: 'stop', timestamp: stamp } })
  say({
    type: 'turn_end',
    message: { role: 'assistant', content, stopReason: 'stop', timestamp: stamp },
    toolResults: [],
  })
}

async function steered(): Promise<string> {
  while (steeredTexts.length === 0) await new Promise<void>((resolve) => (wakeSteered = resolve))
  return steeredTexts.shift() ?? ''
}

/** Serves the rpc mode of Pi; the body says what it does with a prompt. It settles when the body has ended. */
export async function serve(
  body: (turn: PiStandInTurn) => Promise<void> | void,
  refusals: Refusals = {},
): Promise<void> {
  const run = async (prompt: string): Promise<void> => {
    const { promise: aborted, resolve } = Promise.withResolvers<void>()
    abort = resolve
    prompts += 1
    say({ type: 'agent_start' })
    say({ type: 'turn_start' })
    await body({
      prompt,
      count: prompts,
      session,
      model,
      aborted,
      say: speak,
      steered,
      dismissed: dialog.promise,
      queue: (...waiting) => say({ type: 'queue_update', steering: waiting, followUp: [] }),
      raw: (text) => void process.stdout.write(text),
      record: say,
    })
    abort = undefined
    say({ type: 'agent_settled' })
  }
  await listen((command) => {
    const type = String(command['type'])
    if (type in refusals) {
      const error = refusals[type]
      if (error !== null) say({ id: command['id'], type: 'response', command: type, success: false, error })
      return
    }
    switch (type) {
      case 'get_state':
        answer(command, { sessionId: session, model: { provider: model.split('/')[0], id: model.split('/')[1] } })
        return
      case 'switch_session':
        session = /_([^_]+)\.jsonl$/.exec(String(command['sessionPath']))?.[1] ?? randomUUID()
        answer(command)
        return
      case 'set_model':
        model = `${String(command['provider'])}/${String(command['modelId'])}`
        answer(command)
        return
      case 'prompt':
        answer(command)
        void run(String(command['message']))
        return
      case 'steer':
        answer(command)
        steeredTexts.push(String(command['message']))
        wakeSteered?.()
        return
      case 'extension_ui_response':
        dialog.resolve()
        return
      case 'abort':
        answer(command)
        abort?.()
        return
      default:
        answer(command)
    }
  })
}
