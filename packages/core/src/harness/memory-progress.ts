import type { HarnessDisplayState, HarnessEvent, OMProgressState } from '@evener/protocol'

/** What the display shows of observational memory. */
type MemoryDisplay = Pick<HarnessDisplayState, 'omProgress' | 'bufferingMessages' | 'bufferingObservations'>

/** The display after an event; the same object when the event is about something else. */
export function memoryProgress(display: MemoryDisplay, event: HarnessEvent): MemoryDisplay {
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
      return working(display, { status: 'observing', cycleId: event.cycleId })
    case 'om_reflection_start':
      return working(display, {
        status: 'reflecting',
        cycleId: event.cycleId,
        preReflectionTokens: event.tokensToReflect,
      })
    case 'om_observation_end':
      return atRest(display, { observationTokens: event.observationTokens })
    case 'om_reflection_end':
      return atRest(display, { observationTokens: event.compressedTokens })
    case 'om_observation_failed':
    case 'om_reflection_failed':
      return atRest(display, {})
    case 'om_buffering_start':
      return buffering(display, event.operationType, true)
    case 'om_buffering_end':
    case 'om_buffering_failed':
      return buffering(display, event.operationType, false)
    case 'om_activation': {
      const omProgress = {
        ...om,
        observationTokens: event.observationTokens,
        generationCount: event.generationCount,
      }
      return { ...buffering(display, event.operationType, false), omProgress }
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

function working(display: MemoryDisplay, changes: Partial<OMProgressState>): MemoryDisplay {
  return { ...display, omProgress: { ...display.omProgress, ...changes } }
}

function atRest(display: MemoryDisplay, changes: Partial<OMProgressState>): MemoryDisplay {
  return { ...display, omProgress: { ...display.omProgress, ...changes, status: 'idle' } }
}

function buffering(display: MemoryDisplay, operation: 'observation' | 'reflection', isOn: boolean): MemoryDisplay {
  return operation === 'observation'
    ? { ...display, bufferingMessages: isOn }
    : { ...display, bufferingObservations: isOn }
}
