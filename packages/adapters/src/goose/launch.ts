import { join } from 'node:path'
import type { JsonObject } from '@inspan/protocol'
import { flag } from '../launch/args.ts'
import type { LaunchPlan, LaunchRequest } from '../launch/launch-plan.ts'
import { promptText } from '../launch/prompt.ts'
import { strictJson } from '../launch/strict-json.ts'
import { gooseExtensions } from './extensions.ts'
import { gooseProfile } from './profile.ts'

export interface GooseLaunchOptions {
  /** The model's provider. Default: Goose's own setting. */
  readonly provider?: string
  /** Further command line arguments. */
  readonly args?: readonly string[]
}

const RECIPE = 'turn.json'

/**
 * Returns how to start `goose run` for one turn. Everything is in a recipe, a private file: there is no other way to
 * choose the tools, and other users cannot see it.
 */
export function launchGoose(request: LaunchRequest, options: GooseLaunchOptions = {}): LaunchPlan {
  const { title } = gooseProfile
  const { session, instructions } = request
  const { extensions, warnings } = gooseExtensions(request)
  const recipe: JsonObject = {
    version: '1.0.0',
    title: 'Inspan',
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
    // In any other mode it asks, and ends at the first call.
    env: { GOOSE_MODE: 'auto' },
    files: [{ name: RECIPE, content: recipeText(recipe) }],
    ...(session.kind === 'new' ? {} : { sessionId: session.nativeId }),
    warnings,
  }
}

/** Returns a name for the session, to look up its id: Goose chooses the id and does not print it. */
export function sessionName(id: string): string {
  return `inspan-${id}`
}

/** A recipe is a template before it is JSON. Braces in texts are escaped so that the template does not see them. */
function recipeText(recipe: JsonObject): string {
  return strictJson(recipe).replaceAll(/\{(?=[{%#])/g, String.raw`\u007b`)
}
