import { NO_RULES, type Part } from '@inspan/protocol'
import type { LaunchPlan, LaunchRequest } from '../../src/launch/launch-plan.ts'

export const SESSION = '11111111-1111-4111-8111-111111111111'

/** One turn with nothing special about it, and what a test changes of it. */
export function aRequest(more: Partial<LaunchRequest> = {}): LaunchRequest {
  return {
    input: [{ id: '0', type: 'text', text: 'Do it.' }],
    session: { kind: 'new', id: SESSION },
    cwd: '/work',
    hasNewInstructions: false,
    rules: NO_RULES,
    permissions: 'edit',
    allowUngoverned: false,
    mcp: {},
    dir: '/private',
    ...more,
  }
}

export const aPicture: Part = { id: '1', type: 'image', mimeType: 'image/jpeg', data: 'AAAA' }

/** The value that follows an option; `undefined` when the option is not there. */
export function optionOf({ args }: LaunchPlan, name: string): string | undefined {
  const at = args.indexOf(name)
  return at === -1 ? undefined : args[at + 1]
}

/** All values of an option that may be repeated. */
export function optionsOf({ args }: LaunchPlan, name: string): readonly string[] {
  return args.flatMap((arg, index) => (arg === name ? [args[index + 1] ?? ''] : []))
}

/** What a private file holds. */
export function fileOf({ files = [] }: Pick<LaunchPlan, 'files'>, name: string): string {
  const content = files.find((file) => file.name === name)?.content
  if (content === undefined) throw new Error(`There is no file ${name}.`)
  return typeof content === 'string' ? content : Buffer.from(content).toString('base64')
}
