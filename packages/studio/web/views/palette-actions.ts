import type { Client } from '@inspan/client'
import { EXPORT_FORMATS } from '@inspan/client/export'
import type { PendingApproval, PermissionMode } from '@inspan/protocol/wire'
import { EXPORT_NAMES, exportThread } from '../export-thread.ts'
import { allowNotifications, canNotify } from '../notify.ts'
import { goTo } from '../route.ts'
import { setTheme } from '../theme.ts'
import type { Choices } from '../use-choices.ts'
import { textOf } from './queue.tsx'

export type PaletteAction = readonly [name: string, act: () => unknown]

/** What the page can be asked to show. */
export interface PaletteTargets {
  readonly onOpen: (thread: string) => void
  readonly onNew: () => void
  readonly onDetails: () => void
  readonly onDelete: () => void
  readonly onRename: () => void
  readonly onRewind: (messageId: string) => void
  readonly onDevices: () => void
}

/** What can be done on every screen. */
export function pageActions({ onDevices, onNew }: PaletteTargets): {
  readonly first: readonly PaletteAction[]
  readonly last: readonly PaletteAction[]
} {
  return {
    first: [
      ['What needs you', () => goTo({ view: 'home' })],
      ['New thread', onNew],
      ['Compare agents', () => goTo({ view: 'compare' })],
    ],
    last: [
      ...(canNotify() ? [['Notify me when something waits', allowNotifications] as const] : []),
      ['Devices: pair another browser, or revoke one…', onDevices],
      ['Dark theme', () => setTheme('dark')],
      ['Light theme', () => setTheme('light')],
      ['Theme of the system', () => setTheme('system')],
    ],
  }
}

/** What can be done with the thread that is shown. */
export function threadActions(client: Client, choices: Choices, to: PaletteTargets): readonly PaletteAction[] {
  const { head, messages, pendingApprovals = [], thread } = client.getState()
  const fork = async (): Promise<void> => to.onOpen((await client.routes.forkThread(thread)).id)
  const lastPrompt = messages.findLast(({ role }) => role === 'user')?.id
  const queue = [...head.queue]
  return [
    ...pendingApprovals.flatMap((wait) => waitActions(client, wait)),
    ...(head.run === null ? [] : [['Cancel the run', () => client.send({ type: 'cancel' })] as const]),
    ['Rename this thread…', to.onRename],
    ['Fork this thread', fork],
    ...(lastPrompt === undefined
      ? []
      : [['Rewind to before the last prompt…', () => to.onRewind(lastPrompt)] as const]),
    ['Show the details: files, prompts, tasks, usage, permissions', to.onDetails],
    ['Delete this thread…', to.onDelete],
    ...queue.flatMap(({ id, parts }, index): readonly PaletteAction[] => [
      ...(index === 0
        ? []
        : [
            [
              `Send first: ${textOf(parts)}`,
              () => client.send({ type: 'queue-move', itemId: id, before: queue[0]?.id ?? null }),
            ] as const,
          ]),
      [`Remove from the queue: ${textOf(parts)}`, () => client.send({ type: 'queue-remove', itemId: id })],
    ]),
    ...choices.modes.map(({ id, name }) => [`Mode: ${name}`, () => client.send({ type: 'mode', mode: id })] as const),
    ...choices.models.map((model) => [`Model: ${model}`, () => client.send({ type: 'model', model })] as const),
    ['Permissions: ask, unless a rule allows it', () => permit(client, 'default')],
    ['Permissions: allow edits', () => permit(client, 'acceptEdits')],
    ['Permissions: allow everything that is not denied', () => permit(client, 'fullAuto')],
    ...(head.grants.tools.length + head.grants.categories.length === 0
      ? []
      : [['Revoke everything that is allowed in this thread', () => client.send({ type: 'revoke' })] as const]),
    [
      'Revoke everything that is always allowed in this project',
      () => client.send({ type: 'revoke', scope: 'resource' }),
    ],
    ['Replay this thread', () => goTo({ view: 'replay', thread })],
    ...EXPORT_FORMATS.map(
      (format) => [`Export as ${EXPORT_NAMES[format]}`, () => exportThread(client, format)] as const,
    ),
  ]
}

/** Questions and plans have more answers than two: their cards show them. */
function waitActions(client: Client, { description, kind, toolCallId }: PendingApproval): readonly PaletteAction[] {
  if (kind === 'question' || kind === 'plan') return []
  const answer = kind === 'access' ? { answer: true } : {}
  return [
    [`Allow once: ${description}`, () => client.send({ type: 'approve', toolCallId, ...answer })],
    [`Deny: ${description}`, () => client.send({ type: 'deny', toolCallId })],
  ]
}

function permit(client: Client, permissionMode: PermissionMode): void {
  client.send({ type: 'configure', config: { permissionMode } })
}
