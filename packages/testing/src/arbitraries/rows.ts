import type { Wait } from '@inspan/protocol'
import type { Capabilities, Turn } from '@inspan/protocol/driver'
import type { PartAddress } from '@inspan/protocol/log'
import type { CommandKey, CommandRow, Owner, ThreadInfo, WaitRow } from '@inspan/protocol/store'
import * as fc from 'fast-check'
import { arbitraryCancelReason, arbitraryRules, arbitraryWaitRequest } from './control.ts'
import {
  arbitraryCount,
  arbitraryId,
  arbitraryJsonObject,
  arbitraryJsonValue,
  arbitraryText,
  arbitraryTime,
} from './json.ts'
import { arbitraryUserParts } from './message.ts'
import { arbitraryBudget, arbitraryTurnOutput } from './turn.ts'
import { listOf, shape } from './shape.ts'
import { arbitraryFinishReason, arbitraryUsage } from './usage.ts'

export const arbitraryThreadInfo: fc.Arbitrary<ThreadInfo> = shape<ThreadInfo>(
  {
    id: arbitraryId,
    resourceId: arbitraryId,
    title: fc.option(arbitraryText),
    createdAt: arbitraryTime,
    updatedAt: arbitraryTime,
    hidden: fc.boolean(),
    metadata: arbitraryJsonObject,
  },
  {
    root: arbitraryId,
    parent: arbitraryId,
    parentCall: arbitraryId,
    forkedFrom: shape<NonNullable<ThreadInfo['forkedFrom']>>({ thread: arbitraryId, at: arbitraryCount }, {}),
    damaged: arbitraryText,
  },
)

export const arbitraryCommandRow: fc.Arbitrary<CommandRow> = shape<CommandRow>(
  {
    key: shape<CommandKey>({ principal: arbitraryId, clientId: arbitraryId, commandId: arbitraryId }, {}),
    bodyHash: arbitraryId,
    target: arbitraryId,
    body: arbitraryJsonValue,
    state: fc.constantFrom('accepted', 'done'),
    outcome: fc.option(arbitraryJsonValue),
    seq: fc.option(arbitraryCount),
    at: arbitraryTime,
  },
  {},
)

export const arbitraryOwner: fc.Arbitrary<Owner> = shape<Owner>(
  {
    id: arbitraryId,
    host: arbitraryText,
    pid: arbitraryCount,
    startTime: arbitraryText,
    bootId: arbitraryId,
    until: arbitraryTime,
  },
  { url: arbitraryText },
)

const wait: fc.Arbitrary<Wait> = fc
  .tuple(
    arbitraryWaitRequest,
    shape<Pick<Wait, 'run' | 'turn' | 'call' | 'openedAt' | 'at'>>(
      { openedAt: arbitraryCount, at: arbitraryTime },
      {
        run: arbitraryId,
        turn: arbitraryId,
        call: shape<PartAddress>({ messageId: arbitraryId, partId: arbitraryId }, {}),
      },
    ),
  )
  .map(([request, more]) => ({ ...request, ...more }))

export const arbitraryWaitRow: fc.Arbitrary<WaitRow> = shape<WaitRow>(
  {
    stream: arbitraryId,
    wait,
    state: fc.constantFrom('pending', 'answered', 'cancelled', 'superseded'),
  },
  { answeredBy: arbitraryId, settledAt: arbitraryTime, reason: arbitraryCancelReason },
)

export const arbitraryCapabilities: fc.Arbitrary<Capabilities> = shape<Capabilities>(
  {
    governs: fc.constantFrom('all', 'asks-only', 'none'),
    continuity: fc.constantFrom('log', 'native'),
    effort: fc.subarray(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']),
    output: fc.boolean(),
    limits: fc.boolean(),
    maxSteps: fc.boolean(),
    sessions: fc.boolean(),
    steer: fc.constantFrom('inject', 'queue', 'restart', 'none'),
    resume: fc.constantFrom('anchor', 'head', 'none'),
    fork: fc.constantFrom('anchor', 'head', 'none'),
    handover: fc.constantFrom('items', 'text'),
    hostTools: fc.constantFrom('inproc', 'mcp', 'protocol', 'none'),
    interrupt: fc.constantFrom('clean', 'kill'),
    usage: fc.constantFrom('turn', 'cumulative', 'none'),
    redaction: fc.constantFrom('all', 'record'),
    images: fc.boolean(),
    mcp: fc.boolean(),
    subagents: fc.boolean(),
    systemPrompt: fc.constantFrom('replace', 'append', 'none'),
    models: fc.option(listOf(arbitraryText)),
  },
  {
    version: arbitraryText,
    asks: fc.constantFrom('together', 'one-by-one'),
    refusal: fc.constantFrom('goes-on', 'may-end-turn'),
  },
)

export const arbitraryTurn: fc.Arbitrary<Turn> = shape<Turn>(
  { turnId: arbitraryId, runId: arbitraryId, threadId: arbitraryId, input: arbitraryUserParts },
  {
    model: arbitraryText,
    effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    instructions: arbitraryText,
    cwd: arbitraryText,
    maxSteps: fc.integer({ min: 1, max: 50 }),
    rules: arbitraryRules,
    requestContext: arbitraryJsonObject,
    output: arbitraryTurnOutput,
    budget: arbitraryBudget,
    onLimit: fc.constantFrom('fail', 'park'),
    providerOptions: arbitraryJsonObject,
    toolServer: shape<NonNullable<Turn['toolServer']>>({ url: arbitraryText, token: arbitraryText }, {}),
    resumed: shape<NonNullable<Turn['resumed']>>(
      { attempt: fc.integer({ min: 2, max: 3 }) },
      {
        usage: arbitraryUsage,
        nextStep: fc.nat({ max: 9 }),
        step: shape<NonNullable<NonNullable<Turn['resumed']>['step']>>(
          { finishReason: arbitraryFinishReason },
          { usage: arbitraryUsage },
        ),
      },
    ),
  },
)
