import type { OMBufferedState } from '../display-state.ts'
import type { OMOperationType } from '../harness-content.ts'

/** How full a window is. */
export interface OMWindow {
  readonly tokens: number
  readonly threshold: number
}

export interface OMStatusEvent {
  readonly type: 'om_status'
  readonly windows: {
    readonly active: { readonly messages: OMWindow; readonly observations: OMWindow }
    readonly buffered: OMBufferedState
  }
  readonly recordId: string
  readonly threadId: string
  readonly stepNumber: number
  readonly generationCount: number
}

/** Observations prepared in the background replace the messages they cover. */
export interface OMActivationEvent {
  readonly type: 'om_activation'
  readonly cycleId: string
  readonly operationType: OMOperationType
  readonly chunksActivated: number
  readonly tokensActivated: number
  readonly observationTokens: number
  readonly messagesActivated: number
  readonly generationCount: number
  readonly triggeredBy?: 'threshold' | 'ttl' | 'provider_change'
  /** Milliseconds since the epoch. */
  readonly lastActivityAt?: number
  readonly ttlExpiredMs?: number
  readonly activateAfterIdle?: number
  readonly previousModel?: string
  readonly currentModel?: string
}

export interface OMModelChangedEvent {
  readonly type: 'om_model_changed'
  readonly role: 'observer' | 'reflector'
  readonly modelId: string
}

export interface OMObservationStartEvent {
  readonly type: 'om_observation_start'
  readonly cycleId: string
  readonly operationType: OMOperationType
  readonly tokensToObserve: number
}

export interface OMObservationEndEvent {
  readonly type: 'om_observation_end'
  readonly cycleId: string
  readonly durationMs: number
  readonly tokensObserved: number
  readonly observationTokens: number
  readonly observations?: string
  readonly currentTask?: string
  readonly suggestedResponse?: string
}

export interface OMObservationFailedEvent {
  readonly type: 'om_observation_failed'
  readonly cycleId: string
  readonly error: string
  readonly durationMs: number
}

export interface OMReflectionStartEvent {
  readonly type: 'om_reflection_start'
  readonly cycleId: string
  readonly tokensToReflect: number
}

export interface OMReflectionEndEvent {
  readonly type: 'om_reflection_end'
  readonly cycleId: string
  readonly durationMs: number
  readonly compressedTokens: number
  readonly observations?: string
}

export interface OMReflectionFailedEvent {
  readonly type: 'om_reflection_failed'
  readonly cycleId: string
  readonly error: string
  readonly durationMs: number
}

export interface OMBufferingStartEvent {
  readonly type: 'om_buffering_start'
  readonly cycleId: string
  readonly operationType: OMOperationType
  readonly tokensToBuffer: number
}

export interface OMBufferingEndEvent {
  readonly type: 'om_buffering_end'
  readonly cycleId: string
  readonly operationType: OMOperationType
  readonly tokensBuffered: number
  readonly bufferedTokens: number
  readonly observations?: string
}

export interface OMBufferingFailedEvent {
  readonly type: 'om_buffering_failed'
  readonly cycleId: string
  readonly operationType: OMOperationType
  readonly error: string
}

export interface OMThreadTitleUpdatedEvent {
  readonly type: 'om_thread_title_updated'
  readonly cycleId: string
  readonly threadId: string
  readonly oldTitle?: string
  readonly newTitle: string
}

/** The events of observational memory. */
export type MemoryEvent =
  | OMStatusEvent
  | OMActivationEvent
  | OMModelChangedEvent
  | OMObservationStartEvent
  | OMObservationEndEvent
  | OMObservationFailedEvent
  | OMReflectionStartEvent
  | OMReflectionEndEvent
  | OMReflectionFailedEvent
  | OMBufferingStartEvent
  | OMBufferingEndEvent
  | OMBufferingFailedEvent
  | OMThreadTitleUpdatedEvent
