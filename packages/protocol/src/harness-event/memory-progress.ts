import type { HarnessDisplayState, OMProgressState } from '../display-state.ts'
import type { HarnessEvent } from '../harness-event.ts'

/** What the display shows of observational memory. */
type MemoryDisplay = Pick<HarnessDisplayState, 'omProgress' | 'bufferingMessages' | 'bufferingObservations'>

/** Returns the display after an event; the same object when the event is about something else. */
export function memoryProgress(display: MemoryDisplay, event: HarnessEvent, now: () => number): MemoryDisplay {
  const om = display.omProgress
  switch (event.type) {
    case 'om_status': {
      const { active, buffered } = event.windows
      return {
        omProgress: {
          ...om,
          ...windows(active),
          buffered,
          generationCount: event.generationCount,
          stepNumber: event.stepNumber,
        },
        bufferingMessages: buffered.observations.status === 'running',
        bufferingObservations: buffered.reflection.status === 'running',
      }
    }
    case 'om_observation_start':
      return changed(display, { status: 'observing', cycleId: event.cycleId, startTime: now() })
    case 'om_reflection_start':
      return changed(display, {
        status: 'reflecting',
        cycleId: event.cycleId,
        startTime: now(),
        preReflectionTokens: om.observationTokens,
        ...observed(om, event.tokensToReflect),
      })
    case 'om_observation_end':
      return atRest(display, { ...observed(om, event.observationTokens), pendingTokens: 0, thresholdPercent: 0 })
    case 'om_reflection_end':
      return atRest(display, observed(om, event.compressedTokens))
    case 'om_observation_failed':
    case 'om_reflection_failed':
      return atRest(display, {})
    case 'om_buffering_start':
      return buffering(display, event.operationType, true)
    case 'om_buffering_end':
    case 'om_buffering_failed':
      return buffering(display, event.operationType, false)
    case 'om_activation': {
      const { generationCount, observationTokens } = event
      const after = buffering(display, event.operationType, false)
      return changed(after, { ...observed(om, observationTokens), generationCount })
    }
    default:
      return display
  }
}

function windows(active: Extract<HarnessEvent, { type: 'om_status' }>['windows']['active']): Partial<OMProgressState> {
  const { messages, observations } = active
  return {
    pendingTokens: messages.tokens,
    threshold: messages.threshold,
    thresholdPercent: percent(messages),
    observationTokens: observations.tokens,
    reflectionThreshold: observations.threshold,
    reflectionThresholdPercent: percent(observations),
  }
}

function percent({ threshold, tokens }: { readonly tokens: number; readonly threshold: number }): number {
  return threshold > 0 ? (tokens / threshold) * 100 : 0
}

/** The tokens to reflect on, and their share of the threshold. */
function observed({ reflectionThreshold }: OMProgressState, tokens: number): Partial<OMProgressState> {
  return {
    observationTokens: tokens,
    reflectionThresholdPercent: percent({ tokens, threshold: reflectionThreshold }),
  }
}

function changed(display: MemoryDisplay, changes: Partial<OMProgressState>): MemoryDisplay {
  return { ...display, omProgress: { ...display.omProgress, ...changes } }
}

function atRest(display: MemoryDisplay, changes: Partial<OMProgressState>): MemoryDisplay {
  const { cycleId: _cycleId, startTime: _startTime, ...rest } = display.omProgress
  return { ...display, omProgress: { ...rest, ...changes, status: 'idle' } }
}

function buffering(display: MemoryDisplay, operation: 'observation' | 'reflection', isOn: boolean): MemoryDisplay {
  return operation === 'observation'
    ? { ...display, bufferingMessages: isOn }
    : { ...display, bufferingObservations: isOn }
}
