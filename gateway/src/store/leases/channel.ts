/** Where lives hear of meters: `meter recall`, when idle money is wanted or something has come back. */
export const leasesChannel = 'sluice_leases';
