// Campaigns page: periodic updates.

import { startUpdates } from "./updates.mjs";

startUpdates();
