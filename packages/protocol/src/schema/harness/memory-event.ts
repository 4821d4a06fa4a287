import { z } from 'zod'
import type { MemoryEvent, OMWindow } from '../../harness-event/memory.ts'
import type { Wire } from '../../wire-form.ts'
import { exact, type Schema } from '../exact.ts'
import { object, optional, taggedUnion } from '../fields.ts'
import { omOperationType } from './content.ts'
import { omBufferedState } from './display-state.ts'

const omWindow: Schema<Wire<OMWindow>> = exact<Wire<OMWindow>>()(object({ tokens: z.number(), threshold: z.number() }))

const failure = { cycleId: z.string(), error: z.string(), durationMs: z.number() }

export const memoryEventSchema: Schema<Wire<MemoryEvent>> = exact<Wire<MemoryEvent>>()(
  taggedUnion([
    object({
      type: z.literal('om_status'),
      windows: object({
        active: object({ messages: omWindow, observations: omWindow }),
        buffered: omBufferedState,
      }),
      recordId: z.string(),
      threadId: z.string(),
      stepNumber: z.number(),
      generationCount: z.number(),
    }),
    object({
      type: z.literal('om_activation'),
      cycleId: z.string(),
      operationType: omOperationType,
      chunksActivated: z.number(),
      tokensActivated: z.number(),
      observationTokens: z.number(),
      messagesActivated: z.number(),
      generationCount: z.number(),
      triggeredBy: optional(z.enum(['threshold', 'ttl', 'provider_change'])),
      lastActivityAt: optional(z.number()),
      ttlExpiredMs: optional(z.number()),
      activateAfterIdle: optional(z.number()),
      previousModel: optional(z.string()),
      currentModel: optional(z.string()),
    }),
    object({ type: z.literal('om_model_changed'), role: z.enum(['observer', 'reflector']), modelId: z.string() }),
    object({
      type: z.literal('om_observation_start'),
      cycleId: z.string(),
      operationType: omOperationType,
      tokensToObserve: z.number(),
    }),
    object({
      type: z.literal('om_observation_end'),
      cycleId: z.string(),
      durationMs: z.number(),
      tokensObserved: z.number(),
      observationTokens: z.number(),
      observations: optional(z.string()),
      currentTask: optional(z.string()),
      suggestedResponse: optional(z.string()),
    }),
    object({ type: z.literal('om_observation_failed'), ...failure }),
    object({ type: z.literal('om_reflection_start'), cycleId: z.string(), tokensToReflect: z.number() }),
    object({
      type: z.literal('om_reflection_end'),
      cycleId: z.string(),
      durationMs: z.number(),
      compressedTokens: z.number(),
      observations: optional(z.string()),
    }),
    object({ type: z.literal('om_reflection_failed'), ...failure }),
    object({
      type: z.literal('om_buffering_start'),
      cycleId: z.string(),
      operationType: omOperationType,
      tokensToBuffer: z.number(),
    }),
    object({
      type: z.literal('om_buffering_end'),
      cycleId: z.string(),
      operationType: omOperationType,
      tokensBuffered: z.number(),
      bufferedTokens: z.number(),
      observations: optional(z.string()),
    }),
    object({
      type: z.literal('om_buffering_failed'),
      cycleId: z.string(),
      operationType: omOperationType,
      error: z.string(),
    }),
    object({
      type: z.literal('om_thread_title_updated'),
      cycleId: z.string(),
      threadId: z.string(),
      oldTitle: optional(z.string()),
      newTitle: z.string(),
    }),
  ]),
)
