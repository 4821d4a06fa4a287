import { useEffect, useState, type CSSProperties } from 'react'
import type { HighlighterCore, LanguageInput } from 'shiki/core'

export interface CodeToken {
  readonly text: string
  /** Both colours, as variables: the theme of the page decides which one counts. */
  readonly style: CSSProperties
}

/** Tokens of each line. */
export type CodeLines = readonly (readonly CodeToken[])[]

/** Longer texts are shown without colours. */
const LONGEST = 50_000
/** While a text still grows, it is not coloured. */
const SETTLED_MS = 150

const THEMES = { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' } as const

/** Each grammar is a file of its own, loaded when it is first needed. */
const GRAMMARS: Readonly<Record<string, () => Promise<{ readonly default: LanguageInput }>>> = {
  c: () => import('shiki/dist/langs/c.mjs'),
  css: () => import('shiki/dist/langs/css.mjs'),
  diff: () => import('shiki/dist/langs/diff.mjs'),
  go: () => import('shiki/dist/langs/go.mjs'),
  html: () => import('shiki/dist/langs/html.mjs'),
  java: () => import('shiki/dist/langs/java.mjs'),
  javascript: () => import('shiki/dist/langs/javascript.mjs'),
  json: () => import('shiki/dist/langs/json.mjs'),
  jsx: () => import('shiki/dist/langs/jsx.mjs'),
  markdown: () => import('shiki/dist/langs/markdown.mjs'),
  python: () => import('shiki/dist/langs/python.mjs'),
  ruby: () => import('shiki/dist/langs/ruby.mjs'),
  rust: () => import('shiki/dist/langs/rust.mjs'),
  shellscript: () => import('shiki/dist/langs/shellscript.mjs'),
  sql: () => import('shiki/dist/langs/sql.mjs'),
  toml: () => import('shiki/dist/langs/toml.mjs'),
  tsx: () => import('shiki/dist/langs/tsx.mjs'),
  typescript: () => import('shiki/dist/langs/typescript.mjs'),
  yaml: () => import('shiki/dist/langs/yaml.mjs'),
}

const OTHER_NAMES: Readonly<Record<string, string>> = {
  bash: 'shellscript',
  cc: 'c',
  cpp: 'c',
  cjs: 'javascript',
  cts: 'typescript',
  h: 'c',
  hpp: 'c',
  htm: 'html',
  js: 'javascript',
  jsonc: 'json',
  md: 'markdown',
  mjs: 'javascript',
  mts: 'typescript',
  patch: 'diff',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'shellscript',
  shell: 'shellscript',
  ts: 'typescript',
  yml: 'yaml',
  zsh: 'shellscript',
}

let loading: Promise<HighlighterCore> | undefined

/** Returns the text as coloured tokens once the highlighter is loaded. `name`: a language, or the ending of a file. */
export function useCodeLines(text: string, name: string | undefined): CodeLines | undefined {
  const [found, setFound] = useState<{ readonly text: string; readonly lines: CodeLines } | undefined>(undefined)
  const language = languageOf(name)
  useEffect(() => {
    if (language === undefined || text === '' || text.length > LONGEST) return
    let isCurrent = true
    const timer = setTimeout(() => {
      colour(text, language).then(
        (lines) => isCurrent && setFound({ text, lines }),
        // Without colours the text is still readable.
        () => undefined,
      )
    }, SETTLED_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [text, language])
  return found?.text === text ? found.lines : undefined
}

/** The ending of a file's name, which names its language. */
export function endingOf(path: string | undefined): string | undefined {
  return path === undefined || !path.includes('.') ? undefined : path.split('.').at(-1)
}

function languageOf(name: string | undefined): string | undefined {
  const given = name?.toLowerCase().split(/[\s{,]/)[0] ?? ''
  const language = OTHER_NAMES[given] ?? given
  return Object.hasOwn(GRAMMARS, language) ? language : undefined
}

async function colour(text: string, language: string): Promise<CodeLines> {
  loading ??= load()
  const highlighter = await loading
  const grammar = await GRAMMARS[language]?.()
  if (grammar === undefined) return []
  await highlighter.loadLanguage(grammar.default)
  const { tokens } = highlighter.codeToTokens(text, { lang: language, themes: THEMES, defaultColor: false })
  return tokens.map((line) => line.map(({ content, htmlStyle = {} }) => ({ text: content, style: htmlStyle })))
}

async function load(): Promise<HighlighterCore> {
  const [{ createHighlighterCore }, { createJavaScriptRegexEngine }, light, dark] = await Promise.all([
    import('shiki/core'),
    import('shiki/engine/javascript'),
    import('shiki/dist/themes/github-light-high-contrast.mjs'),
    import('shiki/dist/themes/github-dark-high-contrast.mjs'),
  ])
  return createHighlighterCore({
    themes: [light.default, dark.default],
    langs: [],
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  })
}
