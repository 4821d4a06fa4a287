import type { ActivityEvent, ActivityNote, JsonObject, JsonValue } from '@inspan/protocol'
import type { Terminal } from './command.ts'
import { describeActivity } from './describe-activity.ts'
import type { PrintedEvent } from './entry-events.ts'
import { printedText, visible, VisibleText, withAdvice } from '@inspan/protocol/internal'

const RESULT_CHARS = 100
/** The limit for each text argument of a call: shows a command, but not the content of a written file. */
const ARGUMENT_CHARS = 300

/** Shows agent events to a person as they arrive. */
export class Renderer {
  readonly #terminal: Pick<Terminal, 'out' | 'write'>
  #isInText = false
  /** The message and part that the current text belongs to. */
  #part = ''
  #text = new VisibleText()

  constructor(terminal: Pick<Terminal, 'out' | 'write'>) {
    this.#terminal = terminal
  }

  /** Whether a line has begun that the next text may belong to. */
  get isInText(): boolean {
    return this.#isInText
  }

  show(event: PrintedEvent): void {
    switch (event.type) {
      case 'text-delta':
        this.#begin(`${event.messageId} ${event.partId}`)
        this.#say(this.#text.push(event.text))
        break
      case 'tool-call':
        this.#line(`→ ${event.toolName} ${JSON.stringify(event.args, shortTexts)}`)
        break
      case 'tool-result':
        this.#line(
          `${event.isError === true ? '✗' : '✓'} ${event.toolName}${exitOf(event.activity)} ${shorten(event.result)}`,
        )
        break
      case 'file':
        this.#line(`✓ made a file: ${event.fileName ?? event.mimeType}`)
        break
      case 'error':
        this.#line(`! ${withAdvice(event.error.message, event.error)}`)
        break
      case 'finish':
        this.#line('')
        break
      case 'note':
        for (const activity of event.activity.events) if (isForPeople(activity)) this.#line(describeActivity(activity))
        break
      case 'start':
      case 'reasoning-delta':
      case 'tool-call-delta':
      case 'tool-approval-request':
      case 'tool-progress':
      case 'step-start':
      case 'step-finish':
        break
    }
  }

  /** Starts a new line for another part, because two parts are not one sentence. */
  #begin(part: string): void {
    if (part !== this.#part) this.#line('')
    this.#part = part
  }

  #say(text: string): void {
    if (text === '') return
    this.#terminal.write(text)
    this.#isInText = !text.endsWith('\n')
  }

  #line(text: string): void {
    if (this.#isInText) this.#terminal.write('\n')
    this.#isInText = false
    // An escape sequence left open in one text must not affect the next.
    this.#text = new VisibleText()
    if (text !== '') this.#terminal.out(visible(text))
  }
}

/** Unknown activity is kept in the log, but would only be noise on a screen. */
function isForPeople(activity: ActivityEvent): boolean {
  return activity.type !== 'unknown'
}

function shortTexts(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? cut(value, ARGUMENT_CHARS) : value
}

/** Returns the exit code of a failed command, which its output need not show. */
function exitOf(activity: ActivityNote | undefined): string {
  const code = activity?.events.find((event) => event.type === 'command')?.exitCode ?? 0
  return code === 0 ? '' : ` (exit ${code})`
}

function shorten(value: JsonValue): string {
  return cut(
    wordsOf(value)
      .trim()
      .replaceAll(/\s*\n\s*/g, ' ⏎ '),
    RESULT_CHARS,
  )
}

/** Returns the text of a tool result, also from content blocks as MCP servers return them. */
function wordsOf(value: JsonValue): string {
  const printed = printedText(value)
  if (printed !== undefined) return printed
  if (typeof value === 'string') return value
  const blocks = Array.isArray(value) ? value : isObject(value) ? value['content'] : undefined
  const texts = Array.isArray(blocks) ? blocks.map((block) => (isObject(block) ? block['text'] : undefined)) : []
  const isAllText = texts.length > 0 && texts.every((text) => typeof text === 'string')
  return isAllText ? texts.join('\n') : JSON.stringify(value)
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars)}…`
}
