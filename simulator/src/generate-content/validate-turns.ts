import { isPresent, objectsIn, stringAt, type JsonObject } from '../json.ts';
import type { Signer } from '../scenario/signature.ts';
import { invalid } from './protocol.ts';

export const signaturePurpose = 'generate-content';

/** Gemini CLI sends this for history without a signature, and the vendor accepts it. */
const skipSignature = 'skip_thought_signature_validator';

interface Turn {
  readonly role: unknown;
  readonly parts: readonly JsonObject[];
}

/** Checks the order of calls and results, and the signatures of the current turn. @throws Rejection */
export function checkTurns(contents: readonly JsonObject[], signed: boolean, signer: Signer): void {
  const turns = mergeTurns(contents);
  if (turns[0]?.role !== 'user') {
    throw invalid('Please ensure that multiturn requests start with a user turn.');
  }
  turns.forEach((turn, index) => checkOrder(turn, turns[index - 1], turns[index + 1]));
  checkSignatures(turns, signed, signer);
}

function mergeTurns(contents: readonly JsonObject[]): Turn[] {
  const turns: Turn[] = [];
  for (const content of contents) {
    const parts = partsOf(content);
    const last = turns.at(-1);
    if (last !== undefined && last.role === content['role']) {
      turns[turns.length - 1] = { role: last.role, parts: [...last.parts, ...parts] };
    } else turns.push({ role: content['role'], parts });
  }
  return turns;
}

/** The parts of a content; a single part may stand without its list. */
export function partsOf(content: JsonObject): JsonObject[] {
  return objectsIn([content['parts']].flat());
}

function having(turn: Turn | undefined, field: string): readonly JsonObject[] {
  return (turn?.parts ?? []).filter((part) => isPresent(part[field]));
}

function checkOrder(turn: Turn, previous: Turn | undefined, next: Turn | undefined): void {
  const called = having(turn, 'functionCall').length;
  const answered = having(turn, 'functionResponse').length;
  // Results inside a model turn are the trace of hosted tools.
  const calls = turn.role === 'model' ? called - answered : called;
  const results = turn.role === 'model' ? 0 : answered;
  if (calls > 0 && (turn.role !== 'model' || previous === undefined)) {
    throw invalid(
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    );
  }
  if (results > 0 && having(previous, 'functionCall').length === 0) {
    throw invalid(
      'Please ensure that function response turn comes immediately after a function call turn.',
    );
  }
  if (calls > 0 && next !== undefined && having(next, 'functionResponse').length !== calls) {
    throw invalid(
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    );
  }
}

/**
 * In the current turn (everything after the last real user message), the first call of every step
 * must return its signature. A signature that the simulator did not make counts as corrupted.
 */
function checkSignatures(turns: readonly Turn[], signed: boolean, signer: Signer): void {
  const current = turns.findLastIndex(
    (turn) => turn.role === 'user' && having(turn, 'functionResponse').length === 0,
  );
  turns.forEach((turn, index) => {
    for (const part of having(turn, 'thoughtSignature')) {
      const signature = stringAt(part, 'thoughtSignature');
      // Bytes return as base64 or base64url. This vendor reads both.
      if (signature === skipSignature || signature === encodedSkip) continue;
      if (!signer.verify(signaturePurpose, signature, '')) {
        throw invalid('Invalid/Corrupted thought signature.');
      }
    }
    const [first] = having(turn, 'functionCall');
    if (!signed || index < current || first === undefined) return;
    if (isPresent(first['thoughtSignature'])) return;
    throw invalid(
      `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`${stringAt(first['functionCall'], 'name')}\`.`,
    );
  });
}

const encodedSkip = Buffer.from(skipSignature).toString('base64');
