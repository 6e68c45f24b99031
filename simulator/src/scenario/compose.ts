import { exampleFor } from './arguments.ts';
import { chooseCalls } from './calls.ts';
import { deriveId } from './identity.ts';
import { cutText, splitInto, splitText } from './pieces.ts';
import { isObject, type JsonObject } from '../json.ts';
import { countTokens, instructionOf, type Question, type Tool } from './question.ts';
import type { Choice, Scenario, Shape, Stop, ToolCall } from './scenario.ts';
import { countInput, distortUsage, type InputUsage } from './usage.ts';

/** Limits quotations: a response must not grow with the prompt. */
const quoteLimit = 200;
const textPiece = 16;
const argumentPiece = 12;

/** Composes the response from the question alone: the same request always gets the same one. */
export function composeScenario(
  question: Question,
  shape: Shape,
  caching: 'explicit' | 'implicit' | InputUsage,
): Scenario {
  const choices = Array.from({ length: question.choiceCount }, (_, index) =>
    limitChoice(composeChoice(question, shape, index), question.maxTokens),
  );
  let visibleOutput = 0;
  let reasoning = 0;
  for (const choice of choices) {
    visibleOutput += countTokens(choice.text.join('')) + countCalls(choice.calls);
    reasoning += countTokens(choice.reasoning?.pieces.join('') ?? '');
  }
  const input = typeof caching === 'string' ? countInput(question.prompt, caching) : caching;
  const usage = { ...input, visibleOutput, reasoning };
  return {
    model: question.model,
    identity: question.identity,
    choices,
    usage: distortUsage(usage, shape.usage),
  };
}

function composeChoice(question: Question, shape: Shape, index: number): Choice {
  const reasoning = question.reasoning
    ? {
        pieces: splitText(composeReasoning(question), textPiece),
        nonce: deriveId(question.identity, 'reasoning', index),
      }
    : null;
  const calls = chooseCalls(question).map((tool, position): ToolCall => ({
    id: deriveId(question.identity, 'call', index, position),
    name: tool.name,
    kind: tool.kind,
    pieces: splitText(composeArguments(tool, question), argumentPiece),
  }));
  if (calls.length > 0) return { reasoning, text: [], calls, stop: 'tools', stopSequence: null };

  const refusal = refusalIn(question);
  const text = refusal ? 'I cannot help with that.' : composeText(question, index);
  const { kept, stopSequence } = cutAtSequence(text, question.stopSequences);
  const stop: Stop = refusal ?? (stopSequence === null ? 'end' : 'sequence');
  return { reasoning, text: shapeText(kept, shape), calls: [], stop, stopSequence };
}

function composeArguments({ kind, name, schema }: Tool, question: Question): string {
  if (kind === 'custom') return `demo input for ${name}`;
  const example = schema === undefined ? {} : (exampleFor(schema) ?? {});
  if (!isObject(example)) return JSON.stringify(example);
  return JSON.stringify({ ...example, ...requestedArguments(question) });
}

/** `with {"city":"Rome"}` in the user's text replaces members of the arguments. */
function requestedArguments(question: Question): JsonObject {
  const [, text] = /\bwith (\{[^{}]*\})/.exec(instructionOf(question)) ?? [];
  if (text === undefined) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function refusalIn(question: Question): 'refusal' | 'filter' | null {
  if (question.toolRounds > 0) return null;
  const instruction = instructionOf(question);
  if (/\brefuse prompt\b/i.test(instruction)) return 'filter';
  return /\brefuse\b/i.test(instruction) ? 'refusal' : null;
}

function composeReasoning(question: Question): string {
  return `The demo thinks for a moment: ${quote(question.userText) || 'nothing'} was asked, and the simulator answers it with a fixed sentence.`;
}

function composeText(question: Question, index: number): string {
  if (question.structure !== null) return composeStructure(question);
  const sentences = ["This is the Sluice simulator's demo answer, no model was asked."];
  if (question.toolResults.length > 0) {
    sentences.push(`The tool answered: ${question.toolResults.map(quote).join(' and ')}.`);
  } else {
    sentences.push(`You said: ${quote(question.userText)}.`);
  }
  if (question.imageCount > 0) {
    sentences.push(
      `I received ${question.imageCount} ${question.imageCount === 1 ? 'image' : 'images'}.`,
    );
  }
  if (index > 0) sentences.push(`This is choice ${index + 1}.`);
  return sentences.join(' ');
}

function composeStructure(question: Question): string {
  const value = exampleFor(question.structure);
  return JSON.stringify(value ?? { answer: `The demo answers ${quote(question.userText)}` });
}

function quote(text: string): string {
  const trimmed = text.trim();
  return `"${trimmed.length > quoteLimit ? `${cutText(trimmed, quoteLimit)}…` : trimmed}"`;
}

function cutAtSequence(text: string, sequences: readonly string[]) {
  let kept = text;
  let stopSequence: string | null = null;
  for (const sequence of sequences) {
    const at = sequence === '' ? -1 : kept.indexOf(sequence);
    if (at < 0) continue;
    kept = kept.slice(0, at);
    stopSequence = sequence;
  }
  return { kept, stopSequence };
}

function shapeText(text: string, shape: Shape): string[] {
  const sized = shape.textBytes === undefined ? text : repeatTo(text, shape.textBytes);
  const pieces =
    shape.events === undefined
      ? splitText(sized, shape.textBytes === undefined ? textPiece : textPiece * 4)
      : splitInto(repeatTo(sized, Math.max(sized.length, shape.events)), shape.events);
  if (shape.bigEvent !== undefined) pieces.push('#'.repeat(shape.bigEvent));
  return pieces;
}

/** Exactly `bytes` bytes of ASCII, so that sizes can be asserted. */
function repeatTo(text: string, bytes: number): string {
  const ascii = `${text.replace(/[^\x20-\x7e]/g, '?')} `;
  return ascii.repeat(Math.ceil(bytes / ascii.length)).slice(0, bytes);
}

function countCalls(calls: readonly ToolCall[]): number {
  return calls.reduce((sum, call) => sum + countTokens(call.name + call.pieces.join('')), 0);
}

/** Cuts reasoning, text and calls, in this order, at the token limit. */
function limitChoice(choice: Choice, maxTokens: number | null): Choice {
  if (maxTokens === null || choice.stop === 'filter') return choice;
  let room = maxTokens * 4;
  let cut = false;
  const take = (pieces: readonly string[]): string[] => {
    const kept: string[] = [];
    for (const piece of pieces) {
      if (room < piece.length) cut = true;
      const part = room < piece.length ? cutText(piece, room) : piece;
      room = Math.max(0, room - piece.length);
      if (part !== '' || piece === '') kept.push(part);
    }
    return kept;
  };
  const reasoning = choice.reasoning && {
    ...choice.reasoning,
    pieces: take(choice.reasoning.pieces),
  };
  const text = take(choice.text);
  const calls = choice.calls.flatMap((call) => {
    if (room <= call.name.length) {
      cut = true;
      return [];
    }
    room -= call.name.length;
    return [{ ...call, pieces: take(call.pieces) }];
  });
  return cut ? { reasoning, text, calls, stop: 'length', stopSequence: null } : choice;
}
