import { citySchema, inArea, pdf, picture, png, sound, type ClientFeatures } from './feature.ts';

const user = (...parts: object[]) => ({ role: 'user', parts });
const model = (...parts: object[]) => ({ role: 'model', parts });
const said = (...contents: object[]) => ({ contents });
const text = { text: 'look' };
const hi = { text: 'hi' };
const config = (generationConfig: object) => ({ generationConfig });
const withPart = (part: object) => ({
  body: said(user(text, part)),
  without: said(user(text)),
});
const fn = (name: string, more: object = {}) => ({
  name,
  parametersJsonSchema: citySchema,
  ...more,
});
const declare = (...functionDeclarations: object[]) => ({ tools: [{ functionDeclarations }] });
const tools = declare(fn('get_weather'), fn('get_time'));
const choose = (functionCallingConfig: object) => ({
  body: { ...tools, toolConfig: { functionCallingConfig } },
  without: tools,
});
const call = (name = 'get_weather', more: object = {}) => ({
  functionCall: { name, args: { city: 'Ulm' } },
  ...more,
});
const result = (name = 'get_weather', more: object = {}) => ({
  functionResponse: { name, response: { output: 'sunny' }, ...more },
});
const called = (calls: object[], results: object[]) => ({
  ...tools,
  ...said(user(hi), model(...calls), user(...results)),
});
const looped = called([call()], [result()]);
const after = (...parts: object[]) => ({
  body: said(user(hi), model(...parts, hi), user(text)),
  without: said(user(hi), model(hi), user(text)),
});
const inline = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } });
const json = { responseMimeType: 'application/json' };

export const generateContent: ClientFeatures = {
  client: 'generate-content',
  plain: said(user(hi)),
  features: [
    ...inArea('The conversation', [
      { name: '`systemInstruction`', body: { systemInstruction: { parts: [text] } } },
      {
        name: '`systemInstruction` in several parts',
        body: { systemInstruction: { parts: [text, hi] } },
      },
      { name: 'several turns', body: said(user(hi), model(hi), user(text)) },
      { name: 'several text parts', ...withPart({ text: 'again' }) },
      {
        name: 'an unknown part',
        why: 'unknown to every other protocol',
        ...withPart({ xUnknown: 1 }),
      },
      {
        name: 'a prefilled response',
        why: 'newer Claude models do not continue a prefill: it becomes text before the question',
        body: said(user(hi), model({ text: 'I say' })),
      },
    ]),
    ...inArea('Media', [
      { name: '`inlineData`, image', ...withPart(inline('image/png', png)) },
      { name: '`inlineData`, PDF', ...withPart(inline('application/pdf', pdf)) },
      {
        name: '`inlineData`, audio',
        why: 'only chat and generateContent take audio',
        ...withPart(inline('audio/wav', sound)),
      },
      {
        name: '`inlineData`, video',
        why: 'only generateContent takes video',
        ...withPart(inline('video/mp4', sound)),
      },
      {
        name: '`fileData`, image by address',
        ...withPart({ fileData: { mimeType: 'image/png', fileUri: picture } }),
      },
      {
        name: '`fileData`, the vendor’s own file',
        why: 'a file kept by another vendor cannot be read: send its bytes',
        ...withPart({ fileData: { mimeType: 'image/png', fileUri: 'gs://bucket/a.png' } }),
      },
      {
        name: '`mediaResolution`',
        why: 'others set it per image, or not at all',
        body: config({ mediaResolution: 'MEDIA_RESOLUTION_LOW' }),
      },
      {
        name: "a part's `videoMetadata`",
        why: 'only generateContent takes video',
        body: said(user({ ...inline('image/png', png), videoMetadata: { fps: 1 } })),
        without: said(user(inline('image/png', png))),
      },
    ]),
    ...inArea('Tools', [
      { name: '`functionDeclarations`', body: tools },
      {
        name: "a function's `behavior`",
        why: 'no other protocol lets a model go on before the result is there',
        body: declare(fn('get_weather', { behavior: 'NON_BLOCKING' })),
        without: declare(fn('get_weather')),
      },
      {
        name: '`parameters` in upper-case types',
        body: declare({
          name: 'now',
          parameters: { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true } } },
        }),
      },
      { name: 'a function without parameters', body: declare({ name: 'now' }) },
      {
        name: "a function's `response`",
        why: 'only that vendor’s models see it',
        body: declare(fn('now', { response: { type: 'STRING' } })),
        without: declare(fn('now')),
        harmless: true,
      },
      { name: 'names with dots or colons', body: declare(fn('a.b:c')) },
      { name: '`mode: AUTO`', ...choose({ mode: 'AUTO' }) },
      { name: '`mode: NONE`', ...choose({ mode: 'NONE' }) },
      { name: '`mode: ANY`', ...choose({ mode: 'ANY' }) },
      {
        name: '`mode: VALIDATED`',
        why: 'elsewhere a property of each tool',
        ...choose({ mode: 'VALIDATED' }),
      },
      {
        name: '`allowedFunctionNames`, one',
        ...choose({ mode: 'ANY', allowedFunctionNames: ['get_time'] }),
      },
      {
        name: '`allowedFunctionNames`, some of the functions',
        why: 'only the allowed tools are sent',
        body: {
          ...declare(fn('a'), fn('b'), fn('c')),
          toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a', 'b'] } },
        },
        without: declare(fn('a'), fn('b'), fn('c')),
      },
      { name: 'a call and its result', body: looped, without: tools },
      {
        name: 'parallel calls and their results',
        body: called([call(), call('get_time')], [result(), result('get_time')]),
        without: looped,
      },
      {
        name: 'a result with an `id` that no call has',
        why: 'every upstream refuses it',
        body: called([call('get_weather')], [result('get_time', { id: 'x' })]),
      },
      {
        name: 'a result without its call',
        why: 'every upstream refuses it',
        body: said(user(result())),
      },
      {
        name: '`response.error`',
        why: 'stated in words if there is no such mark',
        body: called([call()], [result('get_weather', { response: { error: 'no such city' } })]),
        without: looped,
      },
      {
        name: '`response` with its own members',
        body: called([call()], [result('get_weather', { response: { sky: 'blue', wind: 3 } })]),
        without: looped,
      },
      {
        name: 'media in a result (`parts`)',
        why: 'follows in a user message, since results in chat are text',
        body: called([call()], [result('get_weather', { parts: [inline('image/png', png)] })]),
        without: looped,
      },
      {
        name: '`scheduling`, `willContinue`',
        why: 'only generateContent has it',
        body: called([call()], [result('get_weather', { scheduling: 'SILENT' })]),
        without: looped,
      },
      {
        name: 'hosted `googleSearch`',
        why: 'carried to models with `hosted_tools` in the catalogue',
        body: { tools: [{ googleSearch: {} }] },
      },
      {
        name: 'hosted `codeExecution`',
        why: 'carried to models with `hosted_tools` in the catalogue',
        body: { tools: [{ codeExecution: {} }] },
      },
      {
        name: 'the tool `computerUse`, which the client runs',
        why: 'only Gemini models know the actions that such a client can run',
        body: { tools: [{ computerUse: { environment: 'ENVIRONMENT_BROWSER' } }] },
      },
      {
        name: 'hosted `urlContext`',
        why: 'carried to messages models with `hosted_tools` in the catalogue',
        body: { tools: [{ urlContext: {} }] },
      },
      {
        name: '`executableCode` and its result in the history',
        why: 'said in words',
        things: 2,
        ...after(
          { executableCode: { language: 'PYTHON', code: 'print(1)' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
        ),
      },
    ]),
    ...inArea('The response format', [
      { name: '`responseJsonSchema`', body: config({ ...json, responseJsonSchema: citySchema }) },
      {
        name: '`responseSchema`',
        body: config({
          ...json,
          responseSchema: { type: 'OBJECT', properties: { city: { type: 'STRING' } } },
        }),
      },
      {
        name: '`responseMimeType: application/json`',
        why: 'messages has no such mode, so the instructions ask for it',
        body: config(json),
      },
      {
        name: '`responseMimeType: text/x.enum`',
        why: 'the response depends on it',
        body: config({
          responseMimeType: 'text/x.enum',
          responseSchema: { type: 'STRING', enum: ['a', 'b'] },
        }),
      },
      {
        name: '`candidateCount: 2`',
        why: 'one choice per request there',
        body: config({ candidateCount: 2 }),
      },
      {
        name: '`responseLogprobs`',
        why: 'messages has none',
        body: config({ responseLogprobs: true }),
      },
      {
        name: '`logprobs: 2`',
        why: 'messages has none',
        body: config({ responseLogprobs: true, logprobs: 2 }),
      },
      {
        name: '`responseModalities: IMAGE`',
        why: 'the response depends on it',
        body: config({ responseModalities: ['TEXT', 'IMAGE'] }),
      },
      {
        name: '`speechConfig`',
        why: 'only generateContent has it',
        body: config({ speechConfig: { languageCode: 'de-DE' } }),
      },
    ]),
    ...inArea('Reasoning', [
      {
        name: '`thinkingBudget`',
        why: 'becomes the nearest effort if the model takes no budgets',
        body: config({ thinkingConfig: { thinkingBudget: 2000 } }),
      },
      {
        name: '`thinkingBudget: 0`',
        why: 'a server that does not know `none` reasons by default',
        body: config({ thinkingConfig: { thinkingBudget: 0 } }),
      },
      { name: '`thinkingLevel`', body: config({ thinkingConfig: { thinkingLevel: 'HIGH' } }) },
      {
        name: '`includeThoughts`',
        why: 'chat decides by itself',
        harmless: true,
        body: config({ thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true } }),
        without: config({ thinkingConfig: { thinkingLevel: 'HIGH' } }),
      },
      {
        name: 'reasoning in the history',
        why: 'responses and messages accept only reasoning that they signed; chat upstreams that need it get it',
        harmless: true,
        ...after({ text: 'Hm.', thought: true }),
      },
      {
        name: '`thoughtSignature` of another vendor',
        why: 'only its maker can read it',
        body: called([call('get_weather', { thoughtSignature: 'b3RoZXI=' })], [result()]),
        without: looped,
      },
    ]),
    ...inArea('Limits and sampling', [
      { name: '`maxOutputTokens`', body: config({ maxOutputTokens: 100 }) },
      {
        name: '`temperature`',
        why: 'Claude models do not take it',
        body: config({ temperature: 0.5 }),
      },
      { name: '`topP`', body: config({ topP: 0.5 }) },
      {
        name: '`topK`',
        why: 'chat and responses have none; newer Claude models do not take it',
        body: config({ topK: 5 }),
      },
      { name: '`presencePenalty`', why: 'neither has it', body: config({ presencePenalty: 0.5 }) },
      {
        name: '`frequencyPenalty`',
        why: 'neither has it',
        body: config({ frequencyPenalty: 0.5 }),
      },
      { name: '`seed`', why: 'neither has it', body: config({ seed: 7 }) },
      {
        name: '`stopSequences`',
        why: 'responses has no stop sequences',
        body: config({ stopSequences: ['x'] }),
      },
      {
        name: 'five `stopSequences`',
        why: 'chat takes four; responses has no stop sequences',
        body: config({ stopSequences: ['a', 'b', 'c', 'd', 'e'] }),
      },
    ]),
    ...inArea('State, vendors and accounts', [
      {
        name: '`cachedContent`',
        why: 'needs state at the vendor',
        body: { cachedContent: 'cachedContents/1' },
      },
      {
        name: '`safetySettings`',
        why: 'every vendor has its own filters',
        body: { safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }] },
      },
      { name: '`labels`', why: "for the vendor's own billing", body: { labels: { a: 'b' } } },
      { name: '`serviceTier`', why: 'tiers belong to one vendor', body: { serviceTier: 'flex' } },
      {
        name: '`store: true`',
        why: 'no other vendor stores it',
        body: { store: true },
      },
      {
        name: '`store: false`',
        why: 'nothing is stored anyway',
        body: { store: false },
        harmless: true,
      },
      { name: 'an unknown member', why: 'unknown to every other protocol', body: { xUnknown: 1 } },
    ]),
  ],
};
