import { join } from 'node:path'
import type { JsonObject } from '@evener/protocol'
import { flag } from '../launch/args.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import { promptText } from '../launch/prompt.ts'
import { strictJson } from '../launch/strict-json.ts'
import { gooseExtensions } from './extensions.ts'
import { gooseProfile } from './profile.ts'

export interface GooseLaunchOptions {
  /** Of the model. Default: its own setting. */
  readonly provider?: string
  /** Further arguments for the program. */
  readonly args?: readonly string[]
}

const RECIPE = 'turn.json'

/**
 * `goose run`, for one turn. Everything it is told stands in a recipe, a private file: there is no other way to say which
 * tools it has, and nobody else can see it.
 */
export function launchGoose(request: LaunchRequest, options: GooseLaunchOptions = {}): LaunchPlan {
  const { title } = gooseProfile
  const { session, instructions } = request
  const { extensions, warnings } = gooseExtensions(request)
  const recipe: JsonObject = {
    version: '1.0.0',
    title: 'Evener',
    description: 'One turn.',
    ...(instructions === undefined ? {} : { instructions }),
    prompt: promptText(request.input, title),
    extensions,
  }
  return {
    args: [
      'run',
      '--quiet',
      ...flag('--output-format', 'stream-json'),
      ...flag('--recipe', join(request.dir, RECIPE)),
      ...(session.kind === 'new'
        ? flag('--name', sessionName(session.id))
        : ['--resume', ...flag('--session-id', session.nativeId)]),
      ...flag('--provider', options.provider),
      ...flag('--model', request.model),
      ...flag('--max-turns', request.maxSteps?.toString()),
      ...(options.args ?? []),
    ],
    // In any other mode it wants to be answered, and ends at the first call.
    env: { GOOSE_MODE: 'auto' },
    files: [{ name: RECIPE, content: recipeText(recipe) }],
    ...(session.kind === 'new' ? {} : { sessionId: session.nativeId }),
    warnings,
  }
}

/** Names the session, so that its id can be looked up; Goose makes the id and does not tell it. */
export function sessionName(id: string): string {
  return `evener-${id}`
}

/** A recipe is a template before it is JSON. Braces of the text are written so that only JSON sees them. */
function recipeText(recipe: JsonObject): string {
  return strictJson(recipe).replaceAll(/\{(?=[{%#])/g, String.raw`\u007b`)
}
