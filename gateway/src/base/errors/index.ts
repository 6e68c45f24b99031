export { catalogue, type CatalogueEntry, type ErrorName } from './catalogue.ts';
export { GatewayError, type GatewayErrorOptions } from './gateway-error.ts';
