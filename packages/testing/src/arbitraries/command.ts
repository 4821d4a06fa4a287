import type { Command, CommandAttachment, CommandBase, Expectation, RuntimeConfig } from '@inspan/protocol/wire'
import * as fc from 'fast-check'
import { arbitraryId, arbitraryJsonValue, arbitraryText } from './json.ts'
import { listOf, shape } from './shape.ts'

type CommandOf<Type extends Command['type']> = Extract<Command, { type: Type }>

const expectation: fc.Arbitrary<Expectation> = shape<Expectation>(
  {},
  { runId: fc.option(arbitraryId), headMessageId: fc.option(arbitraryId) },
)

const base: { readonly [K in keyof CommandBase]-?: fc.Arbitrary<Exclude<CommandBase[K], undefined>> } = {
  id: fc.uuid({ version: 7 }),
  thread: arbitraryId,
  expect: expectation,
}

const attachment: fc.Arbitrary<CommandAttachment> = shape<CommandAttachment>(
  {
    mimeType: fc.constantFrom('image/png', 'application/pdf'),
    data: fc.base64String({ minLength: 4, maxLength: 16 }),
  },
  { fileName: arbitraryText },
)

const config: fc.Arbitrary<RuntimeConfig> = shape<RuntimeConfig>(
  {},
  {
    permissionMode: fc.constantFrom('default', 'acceptEdits', 'fullAuto'),
    maxTurns: fc.integer({ min: 1, max: 100 }),
    model: fc.constantFrom('openai/gpt', 'anthropic/claude'),
    systemPrompt: arbitraryText,
    effort: fc.constantFrom('low', 'medium', 'high', 'max'),
    mode: arbitraryId,
    agent: arbitraryId,
  },
)

export const commandsByType: { readonly [Type in Command['type']]: fc.Arbitrary<CommandOf<Type>> } = {
  submit: shape<CommandOf<'submit'>>(
    { type: fc.constant('submit'), prompt: arbitraryText },
    { ...base, attachments: listOf(attachment) },
  ),
  cancel: shape<CommandOf<'cancel'>>({ type: fc.constant('cancel') }, base),
  steer: shape<CommandOf<'steer'>>({ type: fc.constant('steer'), message: arbitraryText }, base),
  approve: shape<CommandOf<'approve'>>(
    { type: fc.constant('approve'), toolCallId: arbitraryId },
    {
      ...base,
      answer: arbitraryJsonValue,
      remember: fc.constantFrom('tool', 'category'),
      scope: fc.constantFrom('thread', 'resource'),
    },
  ),
  deny: shape<CommandOf<'deny'>>(
    { type: fc.constant('deny'), toolCallId: arbitraryId },
    { ...base, reason: arbitraryText },
  ),
  resume: shape<CommandOf<'resume'>>(
    { type: fc.constant('resume'), prompt: arbitraryText, sessionId: arbitraryId },
    base,
  ),
  configure: shape<CommandOf<'configure'>>({ type: fc.constant('configure'), config }, base),
  rewind: shape<CommandOf<'rewind'>>(
    { type: fc.constant('rewind'), messageId: arbitraryId },
    { ...base, dryRun: fc.boolean(), scope: fc.constantFrom('files', 'conversation', 'both') },
  ),
  'follow-up': shape<CommandOf<'follow-up'>>(
    { type: fc.constant('follow-up'), message: arbitraryText },
    { ...base, attachments: listOf(attachment) },
  ),
  'queue-edit': shape<CommandOf<'queue-edit'>>(
    { type: fc.constant('queue-edit'), itemId: arbitraryId, message: arbitraryText },
    base,
  ),
  'queue-move': shape<CommandOf<'queue-move'>>(
    { type: fc.constant('queue-move'), itemId: arbitraryId, before: fc.option(arbitraryId) },
    base,
  ),
  'queue-remove': shape<CommandOf<'queue-remove'>>({ type: fc.constant('queue-remove'), itemId: arbitraryId }, base),
  answer: shape<CommandOf<'answer'>>(
    {
      type: fc.constant('answer'),
      waitId: arbitraryId,
      decision: fc.constantFrom('approve', 'decline', 'answer'),
    },
    {
      ...base,
      value: arbitraryJsonValue,
      reason: arbitraryText,
      remember: fc.constantFrom('tool', 'category'),
      scope: fc.constantFrom('thread', 'resource'),
    },
  ),
  mode: shape<CommandOf<'mode'>>({ type: fc.constant('mode'), mode: arbitraryId }, base),
  model: shape<CommandOf<'model'>>({ type: fc.constant('model'), model: arbitraryId }, base),
  fork: shape<CommandOf<'fork'>>(
    { type: fc.constant('fork') },
    { ...base, messageId: arbitraryId, title: arbitraryText, worktree: fc.boolean() },
  ),
  rename: shape<CommandOf<'rename'>>({ type: fc.constant('rename'), title: arbitraryText }, base),
  delete: shape<CommandOf<'delete'>>({ type: fc.constant('delete') }, base),
  revoke: shape<CommandOf<'revoke'>>(
    { type: fc.constant('revoke') },
    {
      ...base,
      tool: arbitraryId,
      category: fc.constantFrom('read', 'edit', 'execute', 'mcp', 'other'),
      scope: fc.constantFrom('thread', 'resource'),
    },
  ),
}

export const arbitraryCommand: fc.Arbitrary<Command> = fc.oneof(...Object.values(commandsByType))
