import type { SimpleCommand } from '../../read/index.ts'
import { isOption, isReadable } from '../deny/argument.ts'
import { subcommandPlace } from './git-order.ts'
import { programBase } from '../../programs/program-base.ts'
import type { Reach } from '../deny/reaches.ts'

interface Writing {
  /** The program writes unless one of these is among its arguments. When absent, it writes only with one of `words`. */
  readonly unless?: RegExp
  readonly words?: RegExp
}

const ONLY_TELLS = /^--(?:help|version)$/
const PACKS: Writing = { unless: /^(?:-[a-zA-Z0-9]*[clt]|--(?:stdout|to-stdout|list|test))/ }
const SED: Writing = { words: /^(?:-[bnErsuz]*i|--i)/ }
const SCRIPT: Writing = { words: /^-[acflnpsStTuUvwWX0-9]*i/ }
const FIND: Writing = { words: /^-(?:delete|fprint0?|fprintf|fls)$/ }

/** Programs that change files, also ones they do not name, as far as their arguments tell. */
const WRITING: ReadonlyMap<string, Writing> = new Map<string, Writing>([
  ...['cp', 'ln', 'install', 'rsync', 'patch', 'split', 'csplit'].map(
    (name) => [name, { unless: ONLY_TELLS }] as const,
  ),
  ...['gzip', 'gunzip', 'xz', 'unxz', 'bzip2', 'bunzip2', 'zstd', 'unzstd'].map((name) => [name, PACKS] as const),
  ['unzip', { unless: /^-[a-zA-Z]*[lptvZ]/ }],
  ['zip', { unless: /^-[a-zA-Z]*(?:T|sf)$/ }],
  ['sed', SED],
  ['gsed', SED],
  ['perl', SCRIPT],
  ['ruby', SCRIPT],
  ['yq', { words: /^(?:-[a-zA-Z]*i|--in-?p)/ }],
  ['dd', { words: /^of=(?!\/dev\/(?:null|stdout)$)/ }],
  ['sort', { words: /^(?:-[a-zA-Z]*o|--o)/ }],
  ['find', FIND],
  ['gfind', FIND],
  [
    'curl',
    {
      words:
        /^(?:-[afgGiIjklLMnNpqRsSvVZ#0-6]*[oOJDc]|--(?:out|remote-(?:n|h)|dump|cookie-j|trace|etag-s|hsts|libcurl|stderr)|.*%output\{)/s,
    },
  ],
  ['wget', { unless: /^(?:--spider|-[a-zA-Z]*O-)$/ }],
])

const GIT_CHANGES =
  /^(?:checkout|checkout-index|restore|clean|reset|apply|am|merge|rebase|pull|stash|cherry-pick|revert|switch|rm|mv|clone|worktree|submodule|sparse-checkout|read-tree|bisect|filter-branch|format-patch|bundle|fast-export|merge-file|merge-index|merge-one-file|mailinfo|mailsplit|rerere|unpack-file|bugreport|diagnose|subtree|quiltimport|lfs|p4|svn|init)$/
const UNPACKS = /^(?:-?[a-zA-Z]*x[a-zA-Z]*|--(?:ext|get).*)$/

/** True when it is known which arguments make the program write. */
export function isWriter(base: string): boolean {
  return WRITING.has(base)
}

/** Returns whether a command changes files, for a rule that forbids all changes. */
export function changesFiles({ appended, args, name }: SimpleCommand): Reach {
  if (name === null || !isReadable(name)) return 'no'
  const base = programBase(name.text)
  const texts = args.map(({ text }) => text)
  if (base === 'tar' || base === 'bsdtar') {
    return texts.some((text, at) => (at === 0 || isOption(text)) && UNPACKS.test(text)) ? 'yes' : 'no'
  }
  if (base === 'git') return gitChanges(texts)
  if (base.startsWith('git-')) return gitChanges([base.slice('git-'.length), ...texts])
  const writing = WRITING.get(base)
  if (writing === undefined) return 'no'
  const { unless, words } = writing
  if (words !== undefined)
    return texts.some((text, at) => words.test(text) && !isNowhere(text, texts[at + 1])) ? 'yes' : 'no'
  // Without a file they pack their input.
  if (writing === PACKS && !appended && texts.every((text) => isOption(text) || text === '-')) return 'no'
  const onlyPrints = texts.some(
    (text, at) =>
      unless?.test(text) === true ||
      ONLY_TELLS.test(text) ||
      (base === 'wget' && /^-[a-zA-Z]*O$/.test(text) && texts[at + 1] === '-'),
  )
  return onlyPrints ? 'no' : 'yes'
}

/** True when the output that an option names is no file. */
function isNowhere(option: string, value = ''): boolean {
  return /^(?:-[a-zA-Z]*[oDc]|--(?:output|dump-header))$/.test(option) && /^(?:-|\/dev\/(?:null|stdout))$/.test(value)
}

function gitChanges(texts: readonly string[]): Reach {
  const at = subcommandPlace(texts)
  const [subcommand = '', next = ''] = at === -1 ? [] : texts.slice(at)
  if (!GIT_CHANGES.test(subcommand)) return 'no'
  return /^(?:stash|worktree)$/.test(subcommand) && /^(?:list|show)$/.test(next) ? 'no' : 'maybe'
}
