import type { CorpusGroup } from './corpus-group.fixture.ts'

/** Denied files that stand in options, in code, or below a folder that is swept. */
export const namedFiles: CorpusGroup = {
  title: 'denied files that are named in passing',
  files: [
    { tool: 'edit_file', pattern: 'secrets/**', policy: 'deny' },
    { tool: 'read_file', pattern: '.env', policy: 'deny' },
  ],
  yolo: true,
  cases: [
    ['sort -o secrets/a b', 'ask', 'it prints, but writes with an option'],
    ['sort --output=secrets/a b', 'ask', 'it prints, but writes with an option'],
    ['sort -o "$x" b', 'ask', 'nobody knows what it writes'],
    ['uniq a secrets/a', 'ask', 'the second file is written'],
    ['xxd -r a secrets/a', 'ask', 'the second file is written'],
    ['tree -o secrets/a', 'ask', 'it prints, but writes with an option'],
    ['find . -name a -fprint secrets/a', 'ask', 'it looks, but writes with an action'],
    ['find secrets -delete', 'deny', 'everything in it'],
    ['find . -name a -delete', 'ask', 'what lies there is only known when it runs'],
    ['find -delete', 'ask', 'what lies there is only known when it runs'],
    ['cc a.c -osecrets/a', 'ask', 'attached to its option'],
    ['echo x > ~+/secrets/a', 'ask', 'another word for where it stands'],
    ['awk \'{ print > "secrets/a" }\' x', 'ask', 'named in code'],
    ["sed -n 'w secrets/a' x", 'ask', 'named in code'],
    ["python3 -c \"open('secrets/a', 'w')\"", 'ask', 'named in code'],
    ['python3 -c "print(open(\'.env\').read())"', 'ask', 'named in code'],
    ['node -e \'fs.readFileSync(".env")\'', 'ask', 'named in code'],
    ["python3 - <<'E'\nprint(open('.env').read())\nE", 'ask', 'named in code'],
    ['cat secrets/a', 'allow', 'only writing it is denied'],
    ['sort secrets/a', 'allow', 'only writing it is denied'],
    ['find secrets -type f', 'allow', 'only writing it is denied'],
    ['find build -delete', 'allow', 'another folder'],
    ["awk '{ print $1 }' a", 'allow', 'names no file'],
    ["python3 -c 'import secrets; print(secrets.token_hex())'", 'allow', 'no text in the code'],
    ["python3 - <<'E'\nprint(open('a.json').read())\nE", 'allow', 'another file'],
  ],
}
