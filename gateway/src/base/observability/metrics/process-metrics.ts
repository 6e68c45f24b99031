import { collectDefaultMetrics, Registry } from 'prom-client';

let registry: Registry | null = null;

/**
 * CPU, memory, event-loop lag, garbage collections. They belong to the process, and watching collections and the
 * loop has a price: they begin with the first scrape, and are paid for only where somebody scrapes.
 */
export function processRegistry(): Registry {
  if (registry === null) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
  }
  return registry;
}
