import type { Attributes, Context, Span, SpanOptions, Tracer } from '@opentelemetry/api'
import type { AgentEvent, ErrorData, StepFinishEvent, StepRequest, ToolCallInfo, UsageMetadata } from '@inspan/protocol'
import type { ToolOutcome, ToolSuspension } from '@inspan/protocol/driver'
import { openTelemetry } from './open-telemetry.ts'
import { providerName } from './provider-name.ts'
import type { TracerSource, TurnTrace } from './tracing.ts'

type OpenTelemetryApi = NonNullable<Awaited<ReturnType<typeof openTelemetry>>>

export interface TracedTurn {
  readonly agentId: string
  readonly agentName: string
  readonly threadId: string
  readonly runId: string
  readonly turnId: string
  /** Whether the agent carries out its tools itself, so that only what it reports is known. */
  readonly isForeign: boolean
  /** Returns the model, for agents that do not report what they request. */
  readonly model: () => string | undefined
  /** Redacts error messages as in the record. */
  readonly redacted: (text: string) => string
}

/** Returns the spans of a turn by the GenAI conventions, from `source` or else the SDK; `undefined` without either. */
export async function turnSpans(turn: TracedTurn, source?: TracerSource): Promise<TurnTrace | undefined> {
  const api = await openTelemetry(source)
  if (api === undefined) return undefined
  return new TurnSpans(api, turn, (source ?? api.trace).getTracer('inspan') as Tracer)
}

/** One `invoke_agent` span per turn, in it one `chat` span per step and one `execute_tool` span per tool that ran. */
class TurnSpans implements TurnTrace {
  readonly #api: OpenTelemetryApi
  readonly #turn: TracedTurn
  readonly #tracer: Tracer
  readonly #agent: Span
  readonly #inAgent: Context
  readonly #tools = new Map<string, Span>()
  #step: Span | undefined

  constructor(api: OpenTelemetryApi, turn: TracedTurn, tracer: Tracer) {
    this.#api = api
    this.#tracer = tracer
    this.#turn = turn
    const { agentId, agentName, runId, turnId } = turn
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': agentId,
      'gen_ai.agent.name': agentName,
      'inspan.run.id': runId,
      'inspan.turn.id': turnId,
      ...(turn.isForeign ? this.#asked() : {}),
    }
    this.#agent = this.#start(`invoke_agent ${agentName}`, { attributes }, api.context.active())
    this.#inAgent = api.trace.setSpan(api.context.active(), this.#agent)
  }

  observe(event: AgentEvent): void {
    switch (event.type) {
      case 'step-start':
        this.#startStep(event.meta?.['request'] as StepRequest | undefined)
        break
      case 'step-finish':
        this.#step?.setAttributes({
          ...usageAttributes(event.usage),
          'gen_ai.response.finish_reasons': [event.finishReason],
        })
        if (event.finishReason === 'error') this.#fail(this.#step, ...failureOf(event))
        this.#endStep()
        break
      case 'tool-call':
        if (this.#turn.isForeign) this.#tools.set(event.toolCallId, this.#startTool(event))
        break
      case 'tool-result': {
        const span = this.#tools.get(event.toolCallId)
        this.#tools.delete(event.toolCallId)
        if (event.isError === true) this.#fail(span, event.error?.name ?? 'tool_error', event.error?.message)
        span?.end()
        break
      }
      case 'error':
        this.#fail(this.#step, event.error.name, event.error.message)
        this.#fail(this.#agent, event.error.name, event.error.message)
        break
      case 'finish':
        this.#agent.setAttributes({
          ...usageAttributes(event.usage),
          'gen_ai.response.finish_reasons': [event.finishReason],
        })
        break
      default:
        break
    }
  }

  async tool<Outcome extends ToolOutcome | ToolSuspension>(
    call: ToolCallInfo,
    work: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const span = this.#startTool(call)
    this.#tools.set(call.toolCallId, span)
    try {
      const outcome = await this.#api.context.with(this.#api.trace.setSpan(this.#inAgent, span), work)
      if (!('suspend' in outcome) && outcome.isError === true) {
        this.#fail(span, outcome.error?.name ?? 'tool_error', outcome.error?.message)
      }
      return outcome
    } catch (error) {
      this.#fail(
        span,
        error instanceof Error ? error.name : 'Error',
        error instanceof Error ? error.message : undefined,
      )
      throw error
    } finally {
      // The span of a tool that ignores a cancel has been ended already.
      if (this.#tools.delete(call.toolCallId)) span.end()
    }
  }

  end(failure: unknown): void {
    if (failure instanceof Error) this.#fail(this.#agent, failure.name, failure.message)
    for (const span of this.#tools.values()) span.end()
    this.#endStep()
    this.#agent.end()
  }

  #startStep(request: StepRequest | undefined): void {
    this.#endStep()
    const asked = this.#asked(request)
    const model = asked['gen_ai.request.model']
    const attributes: Attributes = {
      'gen_ai.operation.name': 'chat',
      ...asked,
      ...(this.#turn.isForeign ? {} : { 'gen_ai.request.stream': true }),
    }
    // The model is only known at the first step.
    this.#agent.setAttributes(asked)
    const kind = this.#api.SpanKind.CLIENT
    this.#step = this.#start(model === undefined ? 'chat' : `chat ${model}`, { attributes, kind }, this.#inAgent)
  }

  /** Returns provider and model. If a program does not report its provider, the program itself is given. */
  #asked(request?: StepRequest): { 'gen_ai.provider.name'?: string; 'gen_ai.request.model'?: string } {
    const { agentId, isForeign, model: given } = this.#turn
    const named = request?.model ?? given() ?? ''
    const [provider = '', ...rest] = named.split('/')
    const model = rest.length === 0 ? named : rest.join('/')
    const who = rest.length > 0 ? providerName(provider) : isForeign ? agentId : undefined
    return {
      ...(who === undefined ? {} : { 'gen_ai.provider.name': who }),
      ...(model === '' ? {} : { 'gen_ai.request.model': model }),
    }
  }

  #endStep(): void {
    this.#step?.end()
    this.#step = undefined
  }

  #startTool({ toolCallId, toolName }: ToolCallInfo): Span {
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': toolName,
      'gen_ai.tool.call.id': toolCallId,
      'gen_ai.tool.type': 'function',
    }
    return this.#start(`execute_tool ${toolName}`, { attributes }, this.#inAgent)
  }

  #start(name: string, options: SpanOptions, parent: Context): Span {
    const attributes = { ...options.attributes, 'gen_ai.conversation.id': this.#turn.threadId }
    return this.#tracer.startSpan(name, { ...options, attributes }, parent)
  }

  #fail(span: Span | undefined, type: string, message: string | undefined): void {
    const description = message === undefined ? {} : { message: this.#turn.redacted(message) }
    span?.setAttribute('error.type', type)
    span?.setStatus({ code: this.#api.SpanStatusCode.ERROR, ...description })
  }
}

function failureOf({ meta }: StepFinishEvent): [type: string, message: string] {
  const error = meta?.['error'] as ErrorData | undefined
  return [error?.name ?? OTHER_ERROR, error?.message ?? 'The model call failed.']
}

/** The conventions' word for an error without a class of its own. */
const OTHER_ERROR = '_OTHER'

/** Our `inputTokens` are the uncached ones; the conventions count all. */
function usageAttributes(usage: UsageMetadata | undefined): Attributes {
  if (usage === undefined) return {}
  const { cacheWriteInputTokens: written = 0, cachedInputTokens: cached = 0, inputTokens, outputTokens } = usage
  const { reasoningTokens: thought = 0 } = usage
  return {
    ...(inputTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': inputTokens + cached + written }),
    ...(outputTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': outputTokens }),
    ...(thought === 0 ? {} : { 'gen_ai.usage.reasoning.output_tokens': thought }),
    ...(cached === 0 ? {} : { 'gen_ai.usage.cache_read.input_tokens': cached }),
    ...(written === 0 ? {} : { 'gen_ai.usage.cache_creation.input_tokens': written }),
  }
}
