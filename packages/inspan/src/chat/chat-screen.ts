import {
  decodeKittyPrintable,
  Editor,
  isKeyRelease,
  matchesKey,
  Text,
  type Component,
  type TUI,
} from '@earendil-works/pi-tui'
import type { Client } from '@inspan/client'
import { InspanError } from '@inspan/protocol'
import type { Command } from '@inspan/protocol/wire'
import { oneLine } from '../one-line.ts'
import { visible } from '@inspan/protocol/internal'
import { line, lines, type ToneLine, type Tone } from './block.ts'
import { blocksView, painted, Transcript } from './blocks-view.ts'
import { completionFor } from './completion.ts'
import { activityLines, statusLine } from './render-state.ts'
import { runSlash } from './run-slash.ts'
import { readSlash } from './slash.ts'
import { copySequence, StatusReporter } from './terminal-status.ts'
import type { Theme } from './theme.ts'
import { typedAnswer, waitAction, waitBlocks, type WaitView } from './waits.ts'

/** Shorter than anybody takes to read a question and decide. */
const ARMING_MS = 400
/** Longer than it takes to draw a frame. */
const FIRST_FRAME_MS = 30

export interface ChatScreenOptions {
  readonly client: Client
  readonly tui: TUI
  readonly theme: Theme
  readonly cwd: string
  /** Resolves when the thread is there and messages can be sent. Rejects when that will never be. */
  readonly ready: Promise<void>
  /** Called when the first frame is on the screen. */
  readonly onShown: () => void
}

interface OpenQuestion {
  readonly id: string
  readonly chosen: ReadonlySet<number>
  readonly isAskingReason: boolean
  /** The file that the call would replace, once it is read. */
  readonly before?: string | null | undefined
}

/** The terminal chat: shows the client's state and turns keys into commands. Everything else is on the server. */
export class ChatScreen implements Component {
  readonly #client: Client
  readonly #tui: TUI
  readonly #theme: Theme
  readonly #transcript: Transcript
  readonly #editor: Editor
  readonly #status: StatusReporter
  readonly #left = Promise.withResolvers<void>()
  readonly #ready: Promise<void>
  readonly #onShown: () => void
  #isStarting = true
  #failure: unknown
  #isUnfolded = false
  #notice: readonly ToneLine[] = []
  /** The wait that keys answer, and what was done about it so far. */
  #asked: OpenQuestion | undefined
  #isArmed = false
  #arming: ReturnType<typeof setTimeout> | undefined
  #isLeaving = false

  constructor({ client, cwd, onShown, ready, theme, tui }: ChatScreenOptions) {
    this.#ready = ready
    this.#onShown = onShown
    this.#client = client
    this.#tui = tui
    this.#theme = theme
    this.#transcript = new Transcript(theme)
    this.#status = new StatusReporter((data) => tui.terminal.write(data))
    this.#editor = new Editor(tui, theme.editor)
    this.#editor.setAutocompleteProvider(completionFor(client, cwd))
    this.#editor.onSubmit = (text) => this.#submit(text, false)
  }

  /** Shows the chat until the user leaves or the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const leave = (): void => this.#left.resolve()
    signal.addEventListener('abort', leave)
    const unsubscribe = this.#client.subscribe(() => this.#changed())
    const removeListener = this.#tui.addInputListener((data) => (this.#key(data) ? { consume: true } : undefined))
    this.#tui.addChild(this)
    this.#tui.addChild(this.#editor)
    this.#tui.addChild({
      render: (width) =>
        this.#isStarting
          ? []
          : new Text(painted([statusLine(this.#client.getState())], this.#theme), 0, 0).render(width),
      invalidate: () => undefined,
    })
    this.#tui.setFocus(this.#editor)
    this.#say(['Starting…'], 'soft')
    this.#changed()
    this.#begin().catch((error: unknown) => {
      this.#failure = error
      this.#left.resolve()
    })
    try {
      this.#tui.start()
      this.#status.ask()
      // Frames are drawn on a timer; what blocks the process waits for the first one.
      setTimeout(this.#onShown, FIRST_FRAME_MS)
      if (!signal.aborted) await this.#left.promise
    } finally {
      clearTimeout(this.#arming)
      signal.removeEventListener('abort', leave)
      unsubscribe()
      removeListener()
      this.#status.end()
      // Keys that are still on their way belong to the chat, not to the shell.
      await this.#tui.terminal.drainInput()
      this.#tui.stop()
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  async #begin(): Promise<void> {
    await this.#ready
    for (const { content, role } of this.#client.getState().messages) {
      if (role === 'user' && content !== '') this.#editor.addToHistory(content)
    }
    const agent = await agentLine(this.#client).catch(() => undefined)
    this.#isStarting = false
    this.#say([...(agent === undefined ? [] : [agent]), 'Type a message. /help shows commands and keys.'], 'soft')
    this.#changed()
  }

  render(width: number): string[] {
    if (this.#isStarting) return blocksView([lines(...this.#notice)], this.#theme).render(width)
    const state = this.#client.getState()
    this.#transcript.update(state.messages, this.#isUnfolded)
    const view = this.#waitView()
    const below = [...activityLines(state), ...this.#notice]
    const blocks = [...(view === undefined ? [] : waitBlocks(view)), ...(below.length === 0 ? [] : [lines(...below)])]
    return [...this.#transcript.render(width), ...blocksView(blocks, this.#theme).render(width)]
  }

  invalidate(): void {
    this.#transcript.invalidate()
  }

  #changed(): void {
    const state = this.#client.getState()
    this.#status.update(state)
    const [wait] = state.pendingApprovals ?? []
    if (wait?.waitId !== this.#asked?.id) {
      this.#asked = wait === undefined ? undefined : { id: wait.waitId, chosen: new Set(), isAskingReason: false }
      this.#isArmed = false
      clearTimeout(this.#arming)
      if (wait !== undefined) this.#arming = setTimeout(() => this.#arm(), ARMING_MS)
      if (typeof wait?.input?.['content'] === 'string') void this.#readAskedFile(wait.waitId)
    }
    this.#tui.requestRender()
  }

  /** What is approved is the change, so the file as it is now is shown along with its new content. */
  async #readAskedFile(wait: string): Promise<void> {
    const { routes } = this.#client
    // The new content is shown all the same.
    const before = await routes.askedFile(this.#client.getState().thread, wait).catch(() => undefined)
    if (this.#asked?.id !== wait) return
    this.#asked = { ...this.#asked, before }
    this.#tui.requestRender()
  }

  #arm(): void {
    this.#isArmed = true
    this.#tui.requestRender()
  }

  #waitView(): WaitView | undefined {
    const [wait, ...others] = this.#client.getState().pendingApprovals ?? []
    if (wait === undefined || this.#asked?.id !== wait.waitId) return undefined
    const { before, chosen, isAskingReason } = this.#asked
    const isArmed = this.#isArmed
    return { wait, before, chosen, isArmed, isAskingReason, isUnfolded: this.#isUnfolded, others: others.length }
  }

  /** Handles a key before the editor does. Returns true if the editor must not see it. */
  #key(data: string): boolean {
    // Some terminals also report when a key goes up.
    if (isKeyRelease(data)) return false
    if (this.#status.read(data)) return true
    if (matchesKey(data, 'ctrl+c')) return this.#leaveOrClear()
    this.#isLeaving = false
    if (matchesKey(data, 'ctrl+d') && this.#editor.getText() === '') {
      this.#left.resolve()
      return true
    }
    if (matchesKey(data, 'ctrl+o')) {
      this.#isUnfolded = !this.#isUnfolded
      this.#tui.requestRender()
      return true
    }
    if (matchesKey(data, 'escape') && !this.#editor.isShowingAutocomplete()) return this.#escape()
    if (matchesKey(data, 'alt+enter')) {
      const text = this.#editor.getExpandedText()
      this.#editor.setText('')
      this.#submit(text, true)
      return true
    }
    return this.#answerKey(data)
  }

  #leaveOrClear(): boolean {
    if (this.#editor.getText() !== '') this.#editor.setText('')
    else if (this.#isLeaving) this.#left.resolve()
    else {
      this.#isLeaving = true
      this.#say(['Press Ctrl+C again to leave.'], 'soft')
    }
    this.#tui.requestRender()
    return true
  }

  #escape(): boolean {
    const { status } = this.#client.getState()
    if (this.#asked?.isAskingReason === true) {
      this.#asked = { ...this.#asked, isAskingReason: false }
      this.#tui.requestRender()
    } else if (status === 'running' || status === 'awaiting-approval') this.#send({ type: 'cancel' })
    return true
  }

  #answerKey(data: string): boolean {
    const view = this.#waitView()
    // Someone who is writing is not answering.
    if (view === undefined || this.#asked === undefined || this.#editor.getText() !== '') return false
    const action = waitAction(view, matchesKey(data, 'enter') ? 'enter' : (decodeKittyPrintable(data) ?? data))
    if (action === undefined) return false
    if (action.type === 'send') this.#send(action.command)
    else if (action.type === 'reason') this.#asked = { ...this.#asked, isAskingReason: true }
    else this.#asked = { ...this.#asked, chosen: action.chosen }
    this.#tui.requestRender()
    return true
  }

  #submit(text: string, isQueued: boolean): void {
    const prompt = text.trim()
    if (prompt === '') return
    if (this.#isStarting) {
      // Nothing that was typed is lost: it is sent by another Enter.
      this.#editor.setText(text)
      return
    }
    this.#editor.addToHistory(prompt)
    this.#notice = []
    const view = this.#waitView()
    const slash = view?.isAskingReason === true ? undefined : readSlash(prompt)
    if (slash?.type === 'unknown') this.#say([slash.message], 'bad')
    else if (slash !== undefined) void this.#slash(slash.name, slash.argument)
    else
      this.#send((view === undefined ? undefined : typedAnswer(view, prompt)) ?? this.#messageCommand(prompt, isQueued))
    this.#tui.requestRender()
  }

  #messageCommand(prompt: string, isQueued: boolean): Command {
    const { head, messages, status } = this.#client.getState()
    if (status === 'running' || status === 'awaiting-approval') {
      return isQueued ? { type: 'follow-up', message: prompt } : { type: 'steer', message: prompt }
    }
    // A thread is named after what it began with, until somebody renames it.
    if (head.title === null && messages.length === 0) this.#send({ type: 'rename', title: oneLine(prompt) })
    return { type: 'submit', prompt }
  }

  async #slash(name: Parameters<typeof runSlash>[0], argument: string): Promise<void> {
    const host = {
      client: this.#client,
      send: this.#send.bind(this),
      leave: () => this.#left.resolve(),
      copy: (text: string) => this.#tui.terminal.write(copySequence(text)),
    }
    try {
      this.#say(await runSlash(name, argument, host), 'plain')
    } catch (error) {
      this.#say([messageOf(error)], 'bad')
    }
  }

  #send(command: Command): void {
    void this.#client.send(command).receipt.then(({ message, reason, status }) => {
      if (status !== 'done') this.#say([message ?? `The server refused it (${reason ?? status}).`], 'bad')
    })
  }

  #say(texts: readonly string[], tone: Tone): void {
    this.#notice = texts.map((text) => line(visible(text), tone))
    this.#tui.requestRender()
  }
}

/** Says who answers here. */
async function agentLine(client: Client): Promise<string | undefined> {
  const { default: usual, modes } = await client.routes.modes()
  const { head } = client.getState()
  const mode = modes.find(({ id }) => id === (head.mode ?? usual))
  if (mode === undefined) return undefined
  const model = head.model ?? mode.defaultModelId
  return `Agent: ${mode.name}${model === undefined ? '' : `, ${model}`}. ${mode.description ?? ''}`.trimEnd()
}

function messageOf(error: unknown): string {
  if (InspanError.is(error)) return error.message
  return error instanceof Error ? error.message : String(error)
}
