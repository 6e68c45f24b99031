import fc from 'fast-check';

/** Property tests try the same inputs in every run, so that a run is red only for what a change has done. */
fc.configureGlobal({ seed: Number(process.env['SLUICE_PROPERTY_SEED'] ?? '1') });
