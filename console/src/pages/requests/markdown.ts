import { resultText } from '../../pieces/result-text.ts';
import type { Formats } from '../../format/numbers.ts';
import { partName } from '../../format/parts.ts';
import type { Receipt } from '../../format/receipt.ts';
import type { Say } from '../../words/index.ts';
import type { Detail } from './request-view.tsx';

/** A request as text for an issue or a chat. */
export function asMarkdown(
  detail: Detail,
  receipt: Receipt | null,
  say: Say,
  formats: Formats,
): string {
  const lines = [
    `**${detail.id}**: ${detail.status} ${detail.outcome}, ${detail.model}, ${detail.time}`,
    '',
    `${say('request.cost')}: ${detail.cost === null ? say('request.free') : `${detail.cost} USD`}`,
  ];
  if (receipt !== null) {
    lines.push(
      '',
      `| ${say('request.what')} | ${say('request.quantity')} | ${say('request.rate')} | ${say('request.amount')} |`,
      '| --- | ---: | ---: | ---: |',
      ...receipt.lines.map(
        ({ part, quantity, unit, rate, amount }) =>
          `| ${cell(partName(part, say, formats.count))} | ${formats.count(quantity)} | ${rate}${unit === 'token' ? ` ${say('request.perMillion')}` : ''} | ${amount} |`,
      ),
      `| ${say('request.sum')} | | × ${receipt.multiplier} | ${receipt.sum} |`,
    );
  }
  if (detail.usage_unread.length > 0) {
    lines.push('', `${say('request.unread')}: ${detail.usage_unread.join(' ')}`);
  }
  for (const { channel, status, result, duration_ms: time } of detail.attempts) {
    lines.push(
      '',
      `- ${cell(channel)}: ${status ?? ''} ${resultText(result, say)}, ${formats.duration(time)}`,
    );
  }
  for (const { channel, reason } of detail.route) {
    lines.push('', `- ${cell(channel)}: ${say(`request.passed.${reason}`)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Names are chosen by people: a bar would end the cell. */
const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
