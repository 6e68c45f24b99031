import { isObject, objectsIn, stringAt, type JsonObject } from '../json.ts';
import { invalid } from './protocol.ts';

const maxMarks = 4;

/** Checks number, form and order of cache markers in tools, system and messages. @throws Rejection */
export function checkCache(body: JsonObject): void {
  const marks: { ttl: string; path: string }[] = [];
  const collect = (block: JsonObject, path: string) => {
    const control = block['cache_control'];
    if (!isObject(control)) return;
    if (control['type'] !== 'ephemeral') {
      throw invalid(`${path}.cache_control.type: Input should be 'ephemeral'`);
    }
    const ttl = stringAt(control, 'ttl') || '5m';
    if (ttl !== '5m' && ttl !== '1h') {
      throw invalid(`${path}.cache_control.ephemeral.ttl: Input should be '5m' or '1h'`);
    }
    marks.push({ ttl, path });
  };
  objectsIn(body['tools']).forEach((tool, index) => {
    collect(tool, `tools.${index}`);
    if (isObject(tool['cache_control']) && tool['defer_loading'] === true) {
      throw invalid(`tools.${index}: cache_control cannot be set on tools with defer_loading`);
    }
  });
  objectsIn(body['system']).forEach((block, index) => collect(block, `system.${index}`));
  objectsIn(body['messages']).forEach((message, index) => {
    objectsIn(message['content']).forEach((block, position) => {
      collect(block, `messages.${index}.content.${position}`);
      objectsIn(block['content']).forEach((inner, depth) =>
        collect(inner, `messages.${index}.content.${position}.content.${depth}`),
      );
    });
  });
  // The marker of the whole request counts separately, on its last block.
  collect(body, 'body');
  if (marks.length > maxMarks) {
    throw invalid(
      `A maximum of ${maxMarks} blocks with cache_control may be provided. Found ${marks.length}.`,
    );
  }
  const short = marks.findIndex((mark) => mark.ttl === '5m');
  const late = short < 0 ? undefined : marks.slice(short).find((mark) => mark.ttl === '1h');
  if (late) {
    throw invalid(
      `${late.path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: \`tools\`, \`system\`, \`messages\`.`,
    );
  }
}
