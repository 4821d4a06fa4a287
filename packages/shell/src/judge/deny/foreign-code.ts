import { codeVariants, textsIn } from './code-texts.ts'

/** Shells of another kind, and languages in which a bare word is a program. */
const RUNS_WORDS = /^(?:fish|nu|elvish|xonsh|csh|tcsh|pwsh|powershell|tclsh|wish|expect|osascript)[\d.]*$/
/** Languages in which a backtick begins a string. */
const QUOTES_WITH_BACKTICKS = /^(?:node|nodejs|bun|deno|tsx|ts-node|zx|esno|qjs|gjs|i?python|pypy)[\d.]*$/

const LANGUAGE =
  /^(?:python|pypy|ipython|micropython|node|nodejs|bun|deno|tsx|ts-node|zx|esno|qjs|gjs|perl|raku|ruby|jruby|lua|luajit|php|julia|Rscript|R|ocaml|ghc|groovy|elixir|racket|clojure|bb|scala)[\d.]*$/

/** Ways to run a program, or code that is only made when it runs, in the languages scripts are written in. */
const RUNS =
  /subprocess|child_process|popen|system|exec|eval|spawn|fork|passthru|proc_open|pcntl|syscall|readpipe|shell|\bos\b|\bpty\b|\bctypes\b|\bcffi\b|importlib|runpy|builtins|\bbreakpoint\b|pickle|marshal|__\w+|\bgetattr\b|\bglobals\b|\blocals\b|\bvars\b|\bmodules?\b|\bcompile\b|\brequire|\bimport\s*\(|\bprocess\b|\bFunction\b|constructor|globalThis|\bReflect\b|\bDeno\b|\bBun\b|\bvm\b|\bKernel\b|\bIO\b|\bPTY\b|\b(?:public_)?send\b|\bmethod\b|\bload(?:string|file)?\b|\bdofile\b|call_user_func|\bassert\b|\binclude|\brun\s*\(|%x|\bqx\b|\/ee\b|\$\w+\s*\(|\)\s*\(|\]\s*\(|\\u(?:00[4-7]|\{0*[4-7])|\$`|&\{|&\$|->can\b|\bdo\s*["'$(]|webbrowser|settrace|setprofile|_getframe|get_objects|getoutput|unsafe_load|shelve|zipimport|\bpipes\b|\b[pb]db\b|\bcode\.|interact|open3|\birb\b|const_get|\bdrb\b|loadlib|\bffi\b|reflection|array_(?:map|walk|filter)|usort|\bmail\(|\bworker\b|\bset(?:timeout|interval)\(\s*["'`]/i
/** The names of these ways, when a string spells them. */
const RUNS_BY_NAME =
  /^(?:system|exec\w*|popen\w*|spawn\w*|fork|eval|passthru|shell_exec|proc_open|pcntl_exec|child_process|subprocess|os|pty|ctypes|importlib|builtins|require|process|Function|constructor|Kernel|IO|Open3|assert)$/i
/** The same for commands of debuggers, editors and database clients. */
const CONSOLE_RUNS =
  /[!\\`|]|^[^\S\n]*\.[a-z]|\b(?:program|system|shell|source|load\w*|exec\w*|eval|run|python|pipe|e?syscmd|read)\b|xp_cmdshell/im

/** The same, where a second mark must follow the first before the end of a statement or bracket. */
const RUNS_IN_TWO: readonly { readonly end: RegExp; readonly first: RegExp; readonly second: string }[] = [
  { end: /[\n;]/, first: /\bopen[23]?\b/i, second: '|' },
  { end: /\]/, first: /\[\s*["']/, second: '+' },
]

/** Code that looks like one of these ways but is harmless. */
const HARMLESS: readonly RegExp[] = [
  /\brequire\s{0,9}\(?\s{0,9}(["'])(?:node:)?(?:fs|fs\/promises|path|util|url|crypto|zlib|json|csv|set|time|date|yaml|pathname|digest)\1\s{0,9}\)?/g,
  /\brequire\s{0,9}\(\s{0,9}(["'])[\w./@-]+\.json\1\s{0,9}\)/g,
  /\bprocess\.(?:argv|env|exit|exitCode|stdout|stderr|stdin|cwd|platform|versions?|pid|uptime|hrtime|memoryUsage)\b/g,
  /\bos\.(?:path|environ|getcwd|listdir|walk|makedirs|mkdir|sep|linesep|name|stat|getenv|scandir)\b/g,
  /\bre\.compile\b|\bjson\.loads?\b/g,
  /__(?:name|main|file)__/g,
]

export function isLanguage(base: string): boolean {
  return LANGUAGE.test(base)
}

/** Returns whether code in another language may run a program, as far as its words tell. */
export function mayRunPrograms(base: string, code: string): boolean {
  if (RUNS_WORDS.test(base)) return true
  if (!isLanguage(base)) return CONSOLE_RUNS.test(code)
  const imported = code.normalize('NFKC').replace(/\bimport [\w, ]*/g, (names) => names.replace(/\bos\b/g, ' '))
  const rest = HARMLESS.reduce((text, harmless) => text.replace(harmless, ' '), imported)
  if (RUNS.test(rest) || runsInTwo(rest)) return true
  // `"sys" . "tem"`
  for (const variant of codeVariants(rest)) if (textsIn(variant).some((text) => RUNS_BY_NAME.test(text))) return true
  return rest.includes('`') && !QUOTES_WITH_BACKTICKS.test(base)
}

/** Searches piece by piece: one regular expression for both marks would take quadratic time. */
function runsInTwo(code: string): boolean {
  return RUNS_IN_TWO.some(({ end, first, second }) =>
    code.split(end).some((piece) => {
      const at = piece.search(first)
      return at !== -1 && piece.includes(second, at)
    }),
  )
}
