import { optionTable, parseOptions } from '../options.ts'
import type { OptionTable } from '../options.ts'
import type { Invocation } from './invocation.ts'
import type { FileOperation } from './operations.ts'
import { listOperations } from './searches.ts'

// -T, -w and -D take a value in GNU ls and none on macOS, so finding the paths would be guesswork.
const LS = optionTable(
  '-a -A -b -B -c -C -d -f -F -g -G -h -H -i -I: -k -l -L -m -n -N -o -O -p -q -Q -r -R -s -S -t -u -U -v -x -X -Z -1 -@ -e ' +
    '--all --almost-all --author --escape --block-size: --ignore-backups --color? --directory --dired --classify? --file-type ' +
    '--format: --full-time --group-directories-first --no-group --human-readable --si --dereference-command-line --hide: ' +
    '--hyperlink? --indicator-style: --inode --ignore: --kibibytes --dereference --numeric-uid-gid --literal ' +
    '--hide-control-chars --show-control-chars --quote-name --quoting-style: --reverse --recursive --size --sort: --time: ' +
    '--time-style: --width: --context --zero',
)

// Without -o, which writes a file.
const TREE = optionTable(
  '-a -d -l -f -x -p -s -h -u -g -D -q -N -Q -F -n -C -A -S -i -v -t -c -U -r -J -X -L: -P: -I: --gitignore --noreport ' +
    '--dirsfirst --filesfirst --prune --du --si --inodes --device --matchdirs --ignore-case --metafirst --info --filelimit: ' +
    '--charset: --timefmt: --sort? --gitfile: --infofile:',
)

const EZA = optionTable(
  '-1 -l -G -x -R -T -a -A -d -D -f -F? -r -s: -L: -I: -t: -h -H -i -g -b -B -m -u -U -S -@ -o -Z -O -M -n -X -w: --oneline ' +
    '--long --grid --across --recurse --tree --all --almost-all --list-dirs --only-dirs --only-files --classify? --reverse ' +
    '--sort: --level: --ignore-glob: --time: --header --inode --group --binary --bytes --modified --accessed --created ' +
    '--blocksize --extended --octal-permissions --git --git-ignore --git-repos --no-git --no-permissions --no-filesize ' +
    '--no-user --no-time --group-directories-first --group-directories-last --icons? --color? --colour? --hyperlink ' +
    '--time-style: --width: --numeric --links --total-size --depth: --blocks: --date: --icon: --classic',
)

const LISTERS: ReadonlyMap<string, OptionTable> = new Map([
  ['ls', LS],
  ['gls', LS],
  ['dir', LS],
  ['vdir', LS],
  ['tree', TREE],
  ['eza', EZA],
  ['exa', EZA],
  ['lsd', EZA],
])

export const listerNames: readonly string[] = [...LISTERS.keys()]

export function listFiles(invocation: Invocation): FileOperation[] | null {
  const table = LISTERS.get(invocation.program.name)
  const parsed = table === undefined ? undefined : parseOptions(invocation.args, table)
  return parsed?.ok === true ? listOperations(parsed.operands, invocation) : null
}
