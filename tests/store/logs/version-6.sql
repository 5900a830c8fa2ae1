BEGIN TRANSACTION;
CREATE TABLE almoner_api_keys (
            name TEXT PRIMARY KEY,
            digest TEXT NOT NULL UNIQUE,
            permits TEXT NOT NULL,
            created BIGINT NOT NULL,
            revoked BIGINT
        );
CREATE TABLE almoner_campaigns (
            id BIGINT PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            terms TEXT NOT NULL
        , first_id BIGINT NOT NULL DEFAULT 0, person_key TEXT);
INSERT INTO "almoner_campaigns" VALUES(1,'spring','{"contexts": ["new", "returning"], "costs": {"coupon": 5000000, "call": 2500000}, "reserves": {"coupon": 5000000, "call": 8000000}, "horizon": 200, "budget": 100000000, "policy": {"rewards": {"kind": "Wilson"}, "contexts": {"kind": "EmpiricalContexts"}, "allocation": {"kind": "EagerRounding"}}, "unit": [1, 1000000], "default_rewards": null, "new_contexts": false, "seed": 11, "per_person": [3, 86400000000], "holdout": 0.2}',0,'82cef1a86526376795fa4028c30a7202ba63a3b365b984222b7d626b64e1392f');
INSERT INTO "almoner_campaigns" VALUES(2,'autumn','{"contexts": ["new"], "costs": {"gift": 3000000}, "reserves": {"gift": 3000000}, "horizon": 50, "budget": 30000000, "policy": {"rewards": {"kind": "InsuredWilson", "caution": 1.0, "evidence": "graded"}, "contexts": {"kind": "EmpiricalContexts"}, "allocation": {"kind": "EagerRounding"}, "prior": {"kind": "Pooled", "proof": 4.0}}, "unit": [1, 1000000], "default_rewards": null, "new_contexts": false, "seed": 4}',1000000000,'6807a2216d989622b5eb25b03543b205d90a9ddca9455076ed28702aa759987d');
CREATE TABLE almoner_events (
            campaign BIGINT NOT NULL REFERENCES almoner_campaigns (id),
            seq BIGINT NOT NULL CHECK (seq > 0),
            kind TEXT NOT NULL,
            at BIGINT NOT NULL,
            "left" BIGINT NOT NULL CHECK ("left" >= 0),
            decision BIGINT,
            round BIGINT,
            context TEXT,
            action TEXT,
            cost BIGINT CHECK (cost >= 0),
            reserve BIGINT CHECK (reserve >= cost),
            probability DOUBLE PRECISION CHECK (probability > 0 AND probability <= 1),
            price DOUBLE PRECISION,
            reason TEXT,
            key TEXT,
            available TEXT,
            bill BIGINT CHECK (bill >= 0),
            charged BIGINT CHECK (charged >= 0 AND charged <= bill),
            reward DOUBLE PRECISION CHECK (reward >= 0 AND reward <= 1), checksum TEXT, detail TEXT,
            PRIMARY KEY (campaign, seq)
        );
INSERT INTO "almoner_events" VALUES(1,1,'decided',1790000030000000,92000000,1,0,'new','call',2500000,8000000,0.2,0.4,NULL,'visit-0',NULL,NULL,NULL,NULL,'942698caa37830a192227305ed1d8867','{"probabilities":{"skip":0.8,"call":0.2},"group":47}');
INSERT INTO "almoner_events" VALUES(1,2,'decided',1790000037500000,92000000,2,1,'new',NULL,NULL,NULL,8.04999999999999937827e-01,0.4,'policy','visit-1',NULL,NULL,NULL,NULL,'e78e8d2426373fbc8a1ce2f1a8632671','{"probabilities":{"skip":0.8049999999999999,"call":0.195},"group":52}');
INSERT INTO "almoner_events" VALUES(1,3,'decided',1790000045000000,92000000,3,2,'new',NULL,NULL,NULL,8.03773584905660420929e-01,0.4,'policy','visit-2',NULL,NULL,NULL,NULL,'e8b140d586398e2f13acadb335fd5ed4','{"probabilities":{"skip":0.8037735849056604,"call":0.19622641509433966},"group":47}');
INSERT INTO "almoner_events" VALUES(1,4,'decided',1790000052500000,92000000,4,3,'returning',NULL,NULL,NULL,8.02531645569620311064e-01,0.4,'policy','visit-3',NULL,NULL,NULL,NULL,'5599bdfd51667f15d0d428ef70aab999','{"probabilities":{"skip":0.8025316455696203,"call":0.19746835443037977},"group":13}');
INSERT INTO "almoner_events" VALUES(1,5,'decided',1790000060000000,92000000,5,4,'new',NULL,NULL,NULL,8.01273885350318515463e-01,0.4,'policy','visit-4',NULL,NULL,NULL,NULL,'0e4479ee7473516e20c69b9b876a611f','{"probabilities":{"skip":0.8012738853503185,"call":0.19872611464968154},"group":13}');
INSERT INTO "almoner_events" VALUES(1,6,'decided',1790000067500000,92000000,6,5,'returning',NULL,NULL,NULL,0.8,0.4,'policy','visit-5',NULL,NULL,NULL,NULL,'0888c8d36e9deb6f20950fc1bba38729','{"probabilities":{"skip":0.8,"call":0.2},"group":27}');
INSERT INTO "almoner_events" VALUES(1,7,'decided',1790000075000000,84000000,7,6,'returning','call',2500000,8000000,0.2,0.4,NULL,'visit-6',NULL,NULL,NULL,NULL,'520c1044513aef6d6e07cac9ceac7f5b','{"probabilities":{"skip":0.8,"call":0.2},"group":52}');
INSERT INTO "almoner_events" VALUES(1,8,'settled',1790000082500000,83000000,7,6,'returning','call',2500000,8000000,NULL,NULL,NULL,NULL,NULL,9000000,9000000,NULL,'fa13d4521296b671ad7b71750a8287b4',NULL);
INSERT INTO "almoner_events" VALUES(1,9,'decided',1790000090000000,75000000,9,7,'returning','call',2500000,8000000,1.80645161290322597835e-01,0.4,NULL,'visit-7',NULL,NULL,NULL,NULL,'51b2ade318268168712dbcda7ea53e22','{"probabilities":{"skip":0.8193548387096774,"call":0.1806451612903226},"group":52}');
INSERT INTO "almoner_events" VALUES(1,10,'rewarded',1790000097500000,75000000,9,7,'returning','call',2500000,8000000,8.19354838709677402164e-01,NULL,NULL,NULL,NULL,NULL,NULL,1.0,'7a078c9ff98a9364dd6f6f75a59ffcad','{"group":52}');
INSERT INTO "almoner_events" VALUES(1,11,'decided',1790000105000000,75000000,11,8,'new',NULL,NULL,NULL,1.0,4.000000004000000553e-01,'policy','visit-8',NULL,NULL,NULL,NULL,'1f57fb77e8db25f352cc94c278bf6298','{"probabilities":{"skip":1.0},"group":13}');
INSERT INTO "almoner_events" VALUES(1,12,'decided',1790000112500000,75000000,12,9,'returning',NULL,NULL,NULL,6.44444444444444486386e-01,4.000000004000000553e-01,'policy','visit-9',NULL,NULL,NULL,NULL,'0c8efb4a6eb4c587bfe29b6f960cd0fd','{"probabilities":{"skip":0.6444444444444445,"call":0.3555555555555556},"group":13}');
INSERT INTO "almoner_events" VALUES(1,13,'decided',1790000120000000,67000000,13,10,'returning','call',2500000,8000000,3.28070175438596567385e-01,4.000000004000000553e-01,NULL,'visit-10',NULL,NULL,NULL,NULL,'e701bbddcf89dea15997cc274da3ce97','{"probabilities":{"skip":0.6719298245614034,"call":0.32807017543859657},"group":52}');
INSERT INTO "almoner_events" VALUES(1,14,'decided',1790000127500000,67000000,14,11,'returning',NULL,NULL,NULL,1.0,NULL,'person','visit-11',NULL,NULL,NULL,NULL,'c967c5f43202bb7f9dba99d711f8bf2d','{"probabilities":{"skip":1.0},"group":52}');
INSERT INTO "almoner_events" VALUES(1,15,'decided',1790000135000000,67000000,15,12,'new',NULL,NULL,NULL,1.0,4.000000004000000553e-01,'policy','visit-12',NULL,NULL,NULL,NULL,'8bc76c301a628c57f32e8587cf9d4214','{"probabilities":{"skip":1.0},"group":27}');
INSERT INTO "almoner_events" VALUES(1,16,'decided',1790000142500000,67000000,16,13,'returning',NULL,NULL,NULL,0.692,4.000000004000000553e-01,'policy','visit-13',NULL,NULL,NULL,NULL,'9587fc358cb0d7b1fa2a454ede9c3e62','{"probabilities":{"skip":0.692,"call":0.30800000000000005},"group":47}');
INSERT INTO "almoner_events" VALUES(1,17,'decided',1790000150000000,67000000,17,14,'new',NULL,NULL,NULL,1.0,NULL,'person','visit-14',NULL,NULL,NULL,NULL,'45161aeecb79984779447e2a0f94514a','{"probabilities":{"skip":1.0},"group":52}');
INSERT INTO "almoner_events" VALUES(1,18,'amended',1790000165000000,87000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'c8f9484f0106d1033b0856ffce00abff','{"terms": {"budget": 120000000}, "by": null, "note": "more"}');
INSERT INTO "almoner_events" VALUES(1,19,'decided',1790000172500000,87000000,19,15,'returning',NULL,NULL,NULL,0.606006006006006,4.000000004000000553e-01,'policy','visit-15',NULL,NULL,NULL,NULL,'5f169e30c6080b3e43c4e3e3dda15c3d','{"probabilities":{"skip":0.606006006006006,"call":0.39399399399399404},"group":27}');
INSERT INTO "almoner_events" VALUES(1,20,'decided',1790000180000000,87000000,20,16,'returning',NULL,NULL,NULL,6.23243243243243316697e-01,4.000000004000000553e-01,'policy','visit-16',NULL,NULL,NULL,NULL,'0931fc0bb8da7416b92fa6fcc6e74fc8','{"probabilities":{"skip":0.6232432432432433,"call":0.3767567567567568},"group":13}');
INSERT INTO "almoner_events" VALUES(1,21,'decided',1790000187500000,87000000,21,17,'returning',NULL,NULL,NULL,1.0,NULL,'person','visit-17',NULL,NULL,NULL,NULL,'38b1896d5de8301ea31043f056e46111','{"probabilities":{"skip":1.0},"group":52}');
INSERT INTO "almoner_events" VALUES(1,22,'decided',1790000195000000,87000000,22,18,'new',NULL,NULL,NULL,1.0,4.000000004000000553e-01,'policy','visit-18',NULL,NULL,NULL,NULL,'476c95ddc20116f3cf6b095549287889','{"probabilities":{"skip":1.0},"group":27}');
INSERT INTO "almoner_events" VALUES(1,23,'decided',1790000202500000,87000000,23,19,'new',NULL,NULL,NULL,1.0,4.000000004000000553e-01,'policy','visit-19',NULL,NULL,NULL,NULL,'f5d9ccab78ec1b7f41f8b00fec37da8e','{"probabilities":{"skip":1.0},"group":13}');
INSERT INTO "almoner_events" VALUES(1,24,'decided',1790000210000000,79000000,24,20,'returning','call',2500000,8000000,3.98611111111111082738e-01,4.000000004000000553e-01,NULL,'visit-20',NULL,NULL,NULL,NULL,'8be4dfc3cdf873375898af3884507091','{"probabilities":{"skip":0.601388888888889,"call":0.3986111111111111},"group":27}');
INSERT INTO "almoner_events" VALUES(1,25,'cancelled',1790000217500000,87000000,24,20,'returning','call',2500000,8000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'6ffb1ebbe3306e3bd732b2fe59048066',NULL);
INSERT INTO "almoner_events" VALUES(1,26,'decided',1790000225000000,87000000,26,21,'new',NULL,NULL,NULL,1.0,4.000000004000000553e-01,'policy','visit-21',NULL,NULL,NULL,NULL,'9a22b9822faae07379f2c009a73ad753','{"probabilities":{"skip":1.0},"group":27}');
INSERT INTO "almoner_events" VALUES(1,27,'decided',1790000232500000,87000000,27,22,'new',NULL,NULL,NULL,1.0,NULL,'person','visit-22',NULL,NULL,NULL,NULL,'bbe6d4cb21c26a6627575b647af49254','{"probabilities":{"skip":1.0},"group":52}');
INSERT INTO "almoner_events" VALUES(1,28,'decided',1790000240000000,87000000,28,23,'new',NULL,NULL,NULL,1.0,4.000000004000000553e-01,'policy','visit-23',NULL,NULL,NULL,NULL,'6f52db48fee19b1b0a8555dfe150b64e','{"probabilities":{"skip":1.0},"group":27}');
INSERT INTO "almoner_events" VALUES(1,29,'decided',1790000247500000,87000000,29,24,'new',NULL,NULL,NULL,1.0,4.000000004000000553e-01,'policy','visit-24',NULL,NULL,NULL,NULL,'4bdd8662eb8d724eea9c0eacf3eef49e','{"probabilities":{"skip":1.0},"group":13}');
INSERT INTO "almoner_events" VALUES(1,30,'decided',1790000255000000,79000000,30,25,'returning','call',2500000,8000000,4.68571428571428638676e-01,4.000000004000000553e-01,NULL,'visit-25',NULL,NULL,NULL,NULL,'92f68ec3f2eb01aab592112dcd8c1138','{"probabilities":{"skip":0.5314285714285714,"call":0.46857142857142864},"group":13}');
INSERT INTO "almoner_events" VALUES(1,31,'cancelled',1790000262500000,87000000,30,25,'returning','call',2500000,8000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'4c2e7288786e61136e3976f7aadbd5d4',NULL);
INSERT INTO "almoner_events" VALUES(2,1,'decided',1790000285000000,27000000,1,0,'new','gift',3000000,3000000,1.0,3.33333333333333314829e-01,NULL,NULL,NULL,NULL,NULL,NULL,'0db495d24a7a33132608d1b50d32f1c5',NULL);
INSERT INTO "almoner_events" VALUES(2,2,'rewarded',1790000292500000,27000000,1,0,'new','gift',3000000,3000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0.5,'840e312190fb9a4c426ba549630e3221',NULL);
INSERT INTO "almoner_events" VALUES(2,3,'decided',1790000300000000,24000000,3,1,'new','gift',3000000,3000000,1.0,2.84109113406305846538e-01,NULL,NULL,NULL,NULL,NULL,NULL,'e9cc8ab583aa7363123dd79b1f13368b',NULL);
INSERT INTO "almoner_events" VALUES(2,4,'rewarded',1790000307500000,24000000,3,1,'new','gift',3000000,3000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0.5,'46e09abc3d187975eb9373c02675728e',NULL);
INSERT INTO "almoner_events" VALUES(2,5,'decided',1790000315000000,21000000,5,2,'new','gift',3000000,3000000,1.0,0.250550021282194,NULL,NULL,NULL,NULL,NULL,NULL,'1f3856b9cb8e98767c059f600d1548a5',NULL);
INSERT INTO "almoner_events" VALUES(2,6,'rewarded',1790000322500000,21000000,5,2,'new','gift',3000000,3000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0.5,'82d45771c38cef110ac59fa1e09dceeb',NULL);
INSERT INTO "almoner_events" VALUES(2,7,'decided',1790000330000000,18000000,7,3,'new','gift',3000000,3000000,1.0,2.25667612100092063176e-01,NULL,NULL,NULL,NULL,NULL,NULL,'8a3833d4bcd098899e9c5c9d883ec79e',NULL);
INSERT INTO "almoner_events" VALUES(2,8,'rewarded',1790000337500000,18000000,7,3,'new','gift',3000000,3000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0.5,'8fc97b29eb3e4445adc0d0ee9c239809',NULL);
INSERT INTO "almoner_events" VALUES(2,9,'decided',1790000345000000,15000000,9,4,'new','gift',3000000,3000000,1.0,2.1344027029574944021e-01,NULL,NULL,NULL,NULL,NULL,NULL,'cda8447d2cad365e78f71362e57a0be2',NULL);
INSERT INTO "almoner_events" VALUES(2,10,'rewarded',1790000352500000,15000000,9,4,'new','gift',3000000,3000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0.5,'ab4288bcbeb86ccefbf0747b39079c57',NULL);
CREATE TABLE almoner_heads (
            campaign BIGINT PRIMARY KEY REFERENCES almoner_campaigns (id),
            seq BIGINT NOT NULL,
            checksum TEXT
        );
INSERT INTO "almoner_heads" VALUES(1,31,'4c2e7288786e61136e3976f7aadbd5d4');
INSERT INTO "almoner_heads" VALUES(2,10,'ab4288bcbeb86ccefbf0747b39079c57');
CREATE TABLE almoner_persons (
            campaign BIGINT NOT NULL REFERENCES almoner_campaigns (id),
            person TEXT NOT NULL,
            decision BIGINT NOT NULL,
            at BIGINT NOT NULL,
            PRIMARY KEY (campaign, decision)
        );
INSERT INTO "almoner_persons" VALUES(1,'9e90cef29dade416c12a2d29cfe71bc6',1,1790000030000000);
INSERT INTO "almoner_persons" VALUES(1,'8c5c9b4fc46c40d28703e580882c5976',7,1790000075000000);
INSERT INTO "almoner_persons" VALUES(1,'8c5c9b4fc46c40d28703e580882c5976',9,1790000090000000);
INSERT INTO "almoner_persons" VALUES(1,'8c5c9b4fc46c40d28703e580882c5976',13,1790000120000000);
CREATE TABLE almoner_schema (version BIGINT PRIMARY KEY);
INSERT INTO "almoner_schema" VALUES(1);
INSERT INTO "almoner_schema" VALUES(2);
INSERT INTO "almoner_schema" VALUES(3);
INSERT INTO "almoner_schema" VALUES(4);
INSERT INTO "almoner_schema" VALUES(5);
INSERT INTO "almoner_schema" VALUES(6);
CREATE TABLE almoner_snapshots (
            campaign BIGINT PRIMARY KEY REFERENCES almoner_campaigns (id),
            body TEXT NOT NULL
        );
INSERT INTO "almoner_snapshots" VALUES(1,'{"version": 5, "checksum": "ba673baade0e447470ba81f417c94a2bdfe284a873044e76848fa1ac8908de15", "body": "{\"seq\":25,\"status\":\"running\",\"overrun\":1000000,\"attendance\":[0,0.0,null],\"ledger\":[120000000,9000000,24000000,7500000],\"expiring\":[],\"spending\":null,\"contexts\":[\"new\",\"returning\"],\"state\":{\"counts\":[[0.0,0.0],[0.0,1.0]],\"sums\":[[0.0,0.0],[0.0,1.0]],\"pending\":[[0.0,1.0],[0.0,2.0]],\"context_counts\":[9.0,12.0],\"skip_counts\":[0.0,0.0],\"skip_sums\":[0.0,0.0],\"clock\":[21,41,0,0,0]},\"terms\":{\"contexts\":[\"new\",\"returning\"],\"costs\":{\"coupon\":5000000,\"call\":2500000},\"reserves\":{\"coupon\":5000000,\"call\":8000000},\"horizon\":200,\"budget\":120000000,\"policy\":{\"rewards\":{\"kind\":\"Wilson\"},\"contexts\":{\"kind\":\"EmpiricalContexts\"},\"allocation\":{\"kind\":\"EagerRounding\"}},\"unit\":[1,1000000],\"default_rewards\":null,\"new_contexts\":false,\"seed\":11,\"per_person\":[3,86400000000],\"holdout\":0.2},\"stopped\":{}}"}');
CREATE UNIQUE INDEX almoner_once ON almoner_events ((campaign + 0), decision, kind);
CREATE UNIQUE INDEX almoner_keys ON almoner_events ((campaign - 0), key)
        WHERE key IS NOT NULL
        ;
CREATE INDEX almoner_visits ON almoner_persons ((campaign + 0), person);
COMMIT;
