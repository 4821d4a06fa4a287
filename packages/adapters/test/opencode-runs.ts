/** What OpenCode and Kilo Code, which is built on it, do alike in print mode. */
export const OPENCODE_RUNS: Readonly<Record<string, readonly string[]>> = {
  'plain-answer': ['agent: Hello from the mock model.'],
  commands: [
    'agent: I will run a command.',
    'command echo hi; echo warn >&2 → 0',
    'command echo partial; ls /nope; exit 3 → 3 ✗',
    'command no-such-command-xyz → 127 ✗',
    'agent: One passed, two failed.',
  ],
  'file-tools': [
    'read /workspace/notes.txt:2-4',
    'write /workspace/new/created.txt',
    'write /workspace/src/app.ts',
    'write /workspace/src/app.ts ✗',
    'read /workspace/missing.txt ✗',
    'read /workspace/notes.txt:1-6',
    'list /workspace/src',
    'search **/*.ts',
    'search TODO in /workspace/src',
    'search nomatchxyz',
    'write /workspace/notes.txt',
    'unknown',
    'unknown',
    'agent: Files done.',
  ],
  subagents: [
    'agent: Delegating.',
    'subagent_completed general',
    'subagent_failed no-such-agent ✗',
    'agent: Subagent said six.',
  ],
  'invalid-calls': ['unknown', 'unknown', 'agent: Invalid tool calls handled.'],
}
