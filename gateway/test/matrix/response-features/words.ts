import {
  inArea,
  mark,
  type Members,
  outputMessage,
  outputText,
  textBlock,
  type ResponseFeature,
} from './feature.ts';

const page = { url: `https://${mark}.example`, title: 'A page' };
const place = { start_index: 0, end_index: 2 };
const annotated = (annotation: Members) => ({
  output: [outputMessage(outputText('so', { annotations: [annotation] }))],
});
const cited = (citation: Members) => ({ content: [textBlock('so', { citations: [citation] })] });
const token = { token: 'so', logprob: -0.0625, bytes: [115, 111], top_logprobs: [] };

const citesNoOther = 'messages and generateContent cite only their own tools';
const pointsElsewhere = 'refers to content that only the vendor has';

export const words: readonly ResponseFeature[] = [
  ...inArea('Text', [
    {
      name: 'text',
      of: {
        chat: { message: { content: mark } },
        responses: { output: [outputMessage(outputText(mark))] },
        messages: { content: [textBlock(mark)] },
        'generate-content': { parts: [{ text: mark }] },
      },
    },
    {
      name: 'several text parts',
      of: {
        chat: { message: { content: [textBlock('so'), textBlock(mark)] } },
        responses: {
          output: [
            outputMessage(outputText('so')),
            outputMessage(outputText('and'), outputText(mark)),
          ],
        },
        messages: { content: [textBlock('so'), textBlock(mark)] },
        'generate-content': { parts: [{ text: 'so' }, { text: mark }] },
      },
    },
    {
      name: 'a refusal',
      why: 'becomes text for messages and generateContent',
      of: {
        chat: { message: { content: null, refusal: mark } },
        responses: { output: [outputMessage({ type: 'refusal', refusal: mark })] },
      },
    },
    {
      name: 'citations of web pages',
      why: citesNoOther,
      of: {
        chat: {
          message: {
            content: 'so',
            annotations: [{ type: 'url_citation', url_citation: { ...page, ...place } }],
          },
        },
        responses: annotated({ type: 'url_citation', ...page, ...place }),
        messages: cited({ type: 'web_search_result_location', ...page, cited_text: 'x' }),
        'generate-content': {
          candidate: {
            groundingMetadata: { groundingChunks: [{ web: { uri: page.url, title: page.title } }] },
          },
        },
      },
    },
    {
      name: 'citations of documents and files',
      why: pointsElsewhere,
      of: {
        responses: annotated({ type: 'file_citation', index: 0, file_id: 'f', filename: mark }),
        messages: cited({
          type: 'page_location',
          cited_text: mark,
          document_index: 0,
          document_title: mark,
          start_page_number: 1,
          end_page_number: 2,
        }),
      },
    },
    {
      name: 'a citation of a file that the vendor’s tool wrote',
      why: pointsElsewhere,
      of: {
        responses: annotated({
          type: 'container_file_citation',
          container_id: 'c',
          file_id: 'f',
          filename: mark,
          ...place,
        }),
      },
    },
    {
      name: 'sources of recited text (`citationMetadata`)',
      why: citesNoOther,
      of: {
        'generate-content': {
          candidate: { citationMetadata: { citationSources: [{ uri: page.url }] } },
        },
      },
    },
    {
      name: 'log probabilities',
      shown: /-0\.0625/,
      why: 'messages has none; generateContent reports no bytes',
      of: {
        chat: { choice: { logprobs: { content: [token], refusal: null } } },
        responses: { output: [outputMessage(outputText('so', { logprobs: [token] }))] },
        'generate-content': {
          candidate: {
            logprobsResult: { chosenCandidates: [{ token: 'so', logProbability: -0.0625 }] },
          },
        },
      },
    },
    {
      name: 'several choices',
      why: 'responses and messages have one choice and refuse a request for more; if an upstream sends more, they get the first',
      of: {
        chat: { second: { content: mark } },
        'generate-content': { second: [{ text: mark }] },
      },
    },
  ]),
];
