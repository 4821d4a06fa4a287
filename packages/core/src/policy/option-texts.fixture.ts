/** Makes commands of known programs with made-up options, values and scripts, to try what their lists let pass. */
import type { RandomBelow } from './shell-texts.fixture.ts'

/** Programs that write nothing by their names. `tail` is missing because it may wait for ever. */
export const PROGRAMS: readonly string[] = (
  'sort uniq sed find head grep xargs date shuf env nl nice jq awk tr cut cat ls wc comm join od stat du basename seq ' +
  'base64 tac paste fold fmt tsort iconv strings nm xxd column pr cmp diff test printf'
).split(' ')

const WORDS = split(
  `a b x f d d/a - -- -- -- -l 1 2 @x x=1 '' . {} \\; + ';' '{}' '*' * ? [-]of {,x}-of -o -of -i -e -f -x -I -c -C -r -S -T -w -n -p`,
  `--output=f --output f --out=f --outp=f -fprint -fprintf -fls -delete -exec -execdir -ok -name -not -printf -newer -quit`,
  `-print -type --compress-program=evil --compress-prog evil --files0-from=a --random-source=a --plugin ./evil -s -E -z -u`,
  `--posix --debug --in-place --expression=p --file=a --arg-file=a --help --version -t -k -k1 -t. -S1 -K -D evil ./evil d/cat`,
)
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'.split('')
const SED = split(
  `1 $ , p d w·f e evil ; } { : a b t s/a/b/ s/x/evil/e s,a,b,w·f y/a/b/ a\\ i\\ c\\ r·a R W·f q Q l 5 n N g G h H x D P = F z`,
  `v ! ~ + /a/ \\,a, I M / # 0 2 [ ] [/] & sa`,
)
const AWK = split(
  `BEGIN { } print $1 > "f" ; | "evil" >> system("evil") getline < close( ) /a/ / 1 x = y @load @include "a" "filefuncs" # \\`,
  `function printf( , " + - ++ in ( fflush() @x() "system" if while length ~ !~ == return $0 "/" /[/]/ /\\// [ ] x[ |&`,
)

function split(...lines: readonly string[]): readonly string[] {
  return lines
    .join(' ')
    .split(' ')
    .map((word) => word.replaceAll('·', ' '))
}

function pick(list: readonly string[], random: RandomBelow): string {
  return list[random(list.length)] ?? ''
}

function script(words: readonly string[], random: RandomBelow): string {
  let text = ''
  for (let more = 1 + random(6); more > 0; more -= 1) {
    text += pick(words, random) + pick(words === AWK ? [' ', '', '\n'] : ['', '', ' ', ';', '\n'], random)
  }
  return `'${text.replaceAll("'", "'\\''")}'`
}

function argument(program: string, random: RandomBelow): string {
  const kind = random(12)
  if (kind < 4 && program === 'sed') return script(SED, random)
  if (kind < 4 && program === 'awk') return script(AWK, random)
  if (kind < 8) return pick(WORDS, random)
  if (kind > 9) return pick(WORDS, random) + pick(WORDS, random)
  const value = random(3) === 0 ? pick(WORDS, random).replace(/^-+/, '') : ''
  return `-${pick(LETTERS, random)}${random(3) === 0 ? pick(LETTERS, random) : ''}${value}`
}

/** Returns the next command. */
export function optionText(random: RandomBelow): string {
  const program = random(3) === 0 ? pick(['sed', 'awk', 'find', 'sort', 'xargs'], random) : pick(PROGRAMS, random)
  const args: string[] = []
  for (let more = 1 + random(5); more > 0; more -= 1) args.push(argument(program, random))
  return `${random(6) === 0 ? 'echo a | ' : ''}${program} ${args.join(' ')}`
}
