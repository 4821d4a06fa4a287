import type { JsonObject, UsageIncrement } from '@inspan/protocol'
import type { OpenCall } from '../kit/calls.ts'
import { asObject, asText } from '../kit/fields.ts'
import type { TextPlace, Run } from '../kit/mapper.ts'
import { readOutcome, subagentSuccess } from './outcome.ts'
import type { ClineSubagents } from './subagents.ts'
import { clineTools, inputOf, SPAWN } from './tools.ts'
import type { UsageReports } from './usage.ts'

/** Counts the texts of one speaker, to number the next one. */
interface ClineSpeaker {
  readonly key: string
  readonly parent: string | undefined
  texts: number
  thoughts: number
}

interface Surroundings {
  readonly subagents: ClineSubagents
  readonly usage: UsageReports
  readonly hasTeam: () => boolean
  /** Called for an error that ends the run. */
  readonly fail: (message: string, code: string | undefined) => void
  /** Called for an error of the agent that it may correct. */
  readonly err: (message: string | undefined) => void
}

/** Reads what agents say and do: the agent itself, its subagents, and teammates, whose records carry their name. */
export class AgentEvents {
  readonly #run: Run
  readonly #around: Surroundings
  readonly #speakers = new Map<string, ClineSpeaker>()
  #lastCall: OpenCall | undefined
  #stepUsage: UsageIncrement | undefined

  constructor(run: Run, around: Surroundings) {
    this.#run = run
    this.#around = around
  }

  /** The last call of the agent or its subagent, if it is still open. */
  get openCall(): OpenCall | undefined {
    const call = this.#lastCall
    return call !== undefined && this.#run.openCall(call.id, call.parent ?? null) === call ? call : undefined
  }

  read(event: JsonObject, record: JsonObject, teammate?: string): void {
    switch (event['type']) {
      case 'content_start':
        this.#start(event, record, teammate)
        return
      case 'content_update':
        this.#update(event, teammate)
        return
      case 'content_end':
        this.#end(event, record, teammate)
        return
      case 'iteration_start':
        this.#run.consume('step')
        if (this.#isAgent(teammate)) this.#run.stepStart()
        return
      case 'iteration_end':
        this.#run.consume('step')
        if (this.#isAgent(teammate)) this.#endStep()
        return
      case 'usage':
        this.#run.consume('usage')
        this.#usage(event, teammate)
        return
      case 'done':
        this.#run.consume('lifecycle')
        return
      case 'notice': {
        const message = asText(event['message'])
        if (message !== undefined) this.#run.warn(message, asText(event['reason']) ?? asText(event['noticeType']))
        return
      }
      case 'error':
        this.#error(event, teammate)
    }
  }

  #isAgent(teammate: string | undefined): boolean {
    return teammate === undefined && this.#around.subagents.current === undefined
  }

  #endStep(): void {
    const usage = this.#around.usage.settle() ?? this.#stepUsage
    this.#stepUsage = undefined
    this.#run.stepEnd({ usage })
  }

  #usage(event: JsonObject, teammate: string | undefined): void {
    const { usage, hasTeam } = this.#around
    if (teammate !== undefined) usage.ofTeammate(event)
    else if (this.#isAgent(teammate)) this.#stepUsage = usage.ofAgent(event, hasTeam())
    else usage.ofSubagent(event)
  }

  /** Recoverable errors repeat what the failed calls reported. */
  #error(event: JsonObject, teammate: string | undefined): void {
    const message = asText(asObject(event['error'])?.['message']) ?? asText(event['error']) ?? asText(event['message'])
    if (event['recoverable'] === true) {
      this.#run.consume('repeats-result')
      this.#around.err(message)
      return
    }
    if (message === undefined) return
    const code = asText(event['errorClass'])
    if (this.#isAgent(teammate)) this.#around.fail(message, code)
    else this.#run.complain(message, code)
  }

  // Words.

  #start(event: JsonObject, record: JsonObject, teammate: string | undefined): void {
    switch (event['contentType']) {
      case 'text': {
        const { text } = event
        this.#run.consume('partial')
        if (typeof text === 'string') this.#run.textDelta(text, this.#textPlace(this.#speaker(teammate)))
        return
      }
      case 'reasoning': {
        const { reasoning } = event
        this.#run.consume('partial')
        if (typeof reasoning === 'string')
          this.#run.reasoningDelta(reasoning, this.#thoughtPlace(this.#speaker(teammate)))
        return
      }
      case 'tool':
        this.#call(event, record, teammate)
    }
  }

  #end(event: JsonObject, record: JsonObject, teammate: string | undefined): void {
    switch (event['contentType']) {
      case 'text': {
        const { text } = event
        if (typeof text !== 'string') return
        const speaker = this.#speaker(teammate)
        this.#run.text(text, this.#textPlace(speaker))
        speaker.texts += 1
        return
      }
      case 'reasoning': {
        const { reasoning } = event
        const speaker = this.#speaker(teammate)
        if (typeof reasoning === 'string') this.#run.reasoning(reasoning, this.#thoughtPlace(speaker))
        else this.#run.consume('reasoning')
        speaker.thoughts += 1
        return
      }
      case 'tool':
        this.#result(event, record, teammate)
    }
  }

  #speaker(teammate: string | undefined): ClineSpeaker {
    const parent = this.#parent(teammate)
    const key = parent ?? ''
    const known = this.#speakers.get(key)
    if (known !== undefined) return known
    const speaker: ClineSpeaker = { key, parent, texts: 0, thoughts: 0 }
    this.#speakers.set(key, speaker)
    return speaker
  }

  #parent(teammate: string | undefined): string | undefined {
    return teammate ?? this.#around.subagents.current?.callId
  }

  #textPlace({ key, parent, texts }: ClineSpeaker): TextPlace & { readonly partId: string } {
    const partId = `${key}text-${texts}`
    return parent === undefined ? { partId } : { partId, parent }
  }

  #thoughtPlace({ key, parent, thoughts }: ClineSpeaker): TextPlace & { readonly partId: string } {
    const partId = `${key}reasoning-${thoughts}`
    return parent === undefined ? { partId } : { partId, parent }
  }

  // Calls.

  #call(event: JsonObject, record: JsonObject, teammate: string | undefined): void {
    const id = asText(event['toolCallId'])
    const name = asText(event['toolName'])
    if (id === undefined || name === undefined) return
    const { agentId, parent } = teammate === undefined ? this.#around.subagents.takeCaller() : { parent: teammate }
    const input = inputOf(event['input'])
    const call = this.#run.call({ id, name, input, raw: record, parent, serverName: serverOf(name) })
    if (teammate !== undefined) return
    this.#lastCall = call
    if (name === SPAWN) this.#around.subagents.spawnedBy(call, agentId)
  }

  #update(event: JsonObject, teammate: string | undefined): void {
    if (event['contentType'] !== 'tool') return
    this.#run.consume('partial')
    const chunk = asText(asObject(event['update'])?.['chunk'])
    const call = chunk === undefined ? undefined : this.#find(asText(event['toolCallId']), event, teammate)
    if (chunk === undefined || call === undefined) return
    const { callId: toolCallId, name: toolName, parent: parentToolCallId } = call
    const progress = { type: 'tool-progress', toolCallId, toolName, output: chunk } as const
    this.#run.emit(parentToolCallId === undefined ? progress : { ...progress, parentToolCallId })
  }

  #result(event: JsonObject, record: JsonObject, teammate: string | undefined): void {
    const id = asText(event['toolCallId'])
    const call = this.#find(id, event, teammate)
    const outcome = readOutcome(event)
    this.#run.result({ id, parent: call?.parent ?? teammate ?? null, raw: record, outcome })
    if (call === undefined) return
    this.#around.subagents.returned(call, subagentSuccess(outcome))
    this.#speakers.delete(call.callId)
  }

  /** Returns the open call. A subagent may reuse an id of its caller: the innermost call with that name counts. */
  #find(id: string | undefined, event: JsonObject, teammate: string | undefined): OpenCall | undefined {
    if (id === undefined) return undefined
    if (teammate !== undefined) return this.#run.openCall(id, teammate)
    const name = asText(event['toolName'])
    for (const caller of this.#around.subagents.callers) {
      const call = this.#run.openCall(id, caller)
      if (call !== undefined && (name === undefined || call.name === name)) return call
    }
    return undefined
  }
}

/** Returns the server in `<server>__<tool>`. */
function serverOf(name: string): string | undefined {
  const end = name.indexOf('__')
  return end <= 0 || clineTools.rule(name) !== undefined ? undefined : name.slice(0, end)
}
