/** Makes command texts of which some are inside the grammar that an allow covers, and many just outside. */

/** A small generator of pseudo-random numbers: the same seed makes the same texts on every machine. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

export type RandomBelow = (below: number) => number

function split(text: string): readonly string[] {
  return text.split(' · ')
}

const WORDS = split(
  `a · b · x · "$x" · $x · \${x} · 'a b' · "a $x b" · *.t · d/* · [ab] · ? · ~ · ~/a · -n · -r · a=b · 'evil' · "a; evil" · '$(evil)' · "\\$(evil)" · \\; · \\$x · "it's" · '"' · "$(fine)" · $(fine a) · d/{a,b} · {} · --` +
    ` · \${x:-evil} · \${x:-'$(evil)'} · "\${x:-'$(evil)'}" · $(evil) · \`evil\` · "\`evil\`" · $'\\x65vil' · e\\vil · ev""il · r{evil,} · \${x@P} · \${!x} · $((x)) · $[x] · "$@" · $1 · \${a[x]} · \${PWD:x} · \${ evil; } · <(evil) · >(evil) · ~+ · ~x · 'a[$(evil)]' · $"evil" · # · ! · =evil · @(evil) · secret · s* · 's'ecret · .s · ./secret · "$PWD/secret"`,
)
const PROGRAMS = split(
  `echo · echo a · printf %s · true · test -f a · [ -f a ] · cd d · fine · fine a · cat a · cat · ls · ls -la · sort a · sort -n · uniq · wc -l · head -1 a · grep -n a · cut -c1 · tr a b · sed -n 1p a · sed s/a/b/ · awk '{print $1}' a · find . -name a · find d · sort -u a · head -n 1 · tail -1 a · date +%s · basename a · nice fine · timeout 5 fine · env fine · xargs fine · sh -c 'fine a' · bash -c "fine" · command fine · jq . a · tar tf t.tar` +
    ` · evil · $x · "$x" · sort -o f · sort --output=f · sort --outp f · sed -i s/a/b/ a · sed -n 'w f' · sed ':a w f' a · sed 'b x w f' a · sed '1e evil' a · awk 'BEGIN{system("evil")}' · awk '{print > "f"}' a · find . -fprint f · find . -exec evil {} + · uniq a f · tee f · xargs evil · xargs · sh -c evil · sh -c "$x" · bash -kc 'fine PATH=.' · bash -o keyword -c fine · bash -c 'a[$(evil)]=1' · sh · bash -s · eval · eval evil · exec · exec evil · trap evil EXIT; · alias fine=evil; fine · shuf -o f a · iconv -o f a · tar --index-file=f -tf t.tar · env -S 'evil' · nohup fine · printf -v x evil · read x · let x=1 · declare -i x=a · mapfile x · builtin fine · hash -p ./bin fine · enable -n test · compgen -C evil · fine PATH=./d · command evil · time fine · time evil`,
)
const BEFORE = split(
  `x=a · x=evil · x='a[$(evil)]' · x="$(fine)" · x=$x · FOO=1 · PATH=./d · IFS=v · export FOO=1; · export x=evil; · export "PATH"=./d; · export 'PATH'=./d; · read -r 'PATH' < p; · env PATH=./d · set -e; · set -euo pipefail; · set -k; · set -o keyword; · shopt -s extglob; · GLOBIGNORE=a · RANDOM=$x · x+=evil · a[x]=1 · a=(evil) · BASH_ENV=a · LC_ALL=C · ! · time · set -- evil; · read -r x; · unset x; · ENV=a · PS4='$(evil)' set -x; · local x=evil; · readonly x=1;`,
)
const AFTER = split(
  `2>&1 · > /dev/null · 2> /dev/null · < a · > f · >> f · >| f · &> f · <<< evil · <<< "$(evil)" · > "$x" · 3>&1 · <> f · >& f · | true · | cat · | evil · | sh · |& cat · & · ; · && true · || echo a · && evil · <<E\nx\nE\n · <<'E'\n$(evil)\nE\n · <<E\n$(evil)\nE\n · <<E\n\${x:-'$(evil)'}\nE\n · <<-E\n\tx\n\tE\n · <<"E"\n\`evil\`\nE\n · <<\\E\n$(evil)\nE\n · > secret · < secret`,
)
const AROUND = split(
  `(%) · { %; } · if %; then true; fi · if true; then %; else fine; fi · for x in a b; do %; done · for x in evil; do %; done · while read -r x; do %; done < a · until %; do true; break; done · echo "$(%)" · echo $(%) · x=$(%) · ! % · %; echo a · true; % · % && echo a · echo a | % · sh -c '%' · bash -c "%" · {\n%\n} · (\n%\n) · for PATH in ./d; do %; done · for GLOBIGNORE in a; do %; done · case a in a) %;; esac · fine() { evil; }; % · function fine { evil; }; % · [[ -f a ]] && % · (( x )) ; % · coproc % · select x in a; do %; done · \`%\` · eval '%' · time % · % # evil · # evil\n% · % \\\n a · echo a\\\n%`,
)
const CRUMBS = [
  ...`$\`"'\\(){}[]<>|&;#!~*?=:-+@%^, \t\n`.split(''),
  '\r',
  '$(',
  '${',
  "$'",
  '((',
  '))',
  '[[',
  ']]',
  '&&',
  '||',
  ';;',
  '<<',
  '>>',
  'evil ',
  '$x',
  '\\\n',
]

function pick(list: readonly string[], random: RandomBelow): string {
  return list[random(list.length)] ?? ''
}

/** The first part of each list is plain; mostly taken from there, a text has a chance to be allowed. */
function pickMostly(list: readonly string[], plain: number, random: RandomBelow): string {
  return list[random(5) === 0 ? random(list.length) : random(plain)] ?? ''
}

function simple(random: RandomBelow): string {
  const before = random(6) === 0 ? `${pick(BEFORE, random)} ` : ''
  // Builtins start no process, so most texts should consist of them.
  let text = `${before}${pickMostly(PROGRAMS, random(4) === 0 ? 40 : 8, random)}`
  for (let words = random(3); words > 0; words -= 1) text += ` ${pickMostly(WORDS, 29, random)}`
  if (random(4) === 0) text += ` ${pickMostly(AFTER, 4, random)}`
  return text
}

/** Returns the next text. */
export function shellText(random: RandomBelow): string {
  let text = simple(random)
  for (let more = random(3); more > 0; more -= 1) {
    text += `${pick(['; ', ' && ', ' | ', '\n', ' || ', ' & '], random)}${simple(random)}`
  }
  for (let around = random(3); around > 0; around -= 1) text = pickMostly(AROUND, 22, random).replace('%', () => text)
  for (let crumbs = random(4) === 0 ? 1 + random(2) : 0; crumbs > 0; crumbs -= 1) {
    const at = random(text.length + 1)
    text =
      random(3) === 0
        ? text.slice(0, at) + text.slice(at + 1)
        : text.slice(0, at) + pick(CRUMBS, random) + text.slice(at)
  }
  return text
}
